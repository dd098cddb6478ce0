// `cyscc.hw.bfs.slot_station`, executed by hand. It is a single instance, since an AE has one.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace cyscc {

// Outputs are data members, all functions of registers. `kMost` is what a kernel demands at most.
template <int kKernels, int kMost>
class SlotStation {
    static_assert(kKernels <= 16);
    using Number = uint32_t[1];
    using Numbers = uint32_t[kKernels];

public:
    uint32_t token_out_valid = 0;
    uint64_t token_out_payload[1][1] = {};
    uint32_t blocks = 0;  // the kernels that get one
    uint64_t block[kKernels] = {};
    uint32_t quiescent = 0;

    void tick(const Number& asked, const Number& room, const Number& done, const Number& epoch, uint32_t token_in_valid,
              const uint64_t (&token_in_payload)[1][1]) {
        if (!token_in_valid) return tick(asked[0], room[0]);
        const uint64_t token = token_in_payload[0][0];
        const uint32_t total = sums_.total;
        const bool reserve = !hold_ && total;
        hold_ = (hold_ << 1 | reserve) & kHeld;
        token_out_valid = 1;
        const uint64_t over = done[0] == kAll && epoch[0] == (token & kEpoch ? kAll : 0) ? ~uint64_t(0) : ~kDone;
        token_out_payload[0][0] = uint32_t(token + (reserve ? total : 0)) | (token & over & (kDone | kEpoch));
        blocks = 0;
        if (reserve) {
            for (int n = 0; n < kKernels; ++n) {
                const uint64_t count = sums_.taken[n], first = uint32_t(token + sums_.offset[n]);
                block[n] = count ? first | count << 32 : block[n];
                blocks |= uint32_t(count != 0) << n;
            }
        }
        count(asked[0], room[0], true);
    }

    // A cycle in which no token comes.
    void tick(uint32_t asked, uint32_t room) {
        const bool moves = token_out_valid | blocks | hold_;
        hold_ = hold_ << 1 & kHeld;
        token_out_valid = blocks = 0;
        count(asked, room, moves);
    }

    // After the registers were set.
    void resume() { unsettled_ = kAge; }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int) {
        const auto add = [&](const std::string& name, auto& value, int width, int shift = 0) {
            inventory.add((place + name).c_str(), 0, width, &value, sizeof value, shift);
        };
        const auto bits = [](int most) { return std::bit_width(unsigned(most)); };
        for (int n = 0; n < kKernels; ++n) {
            const std::string number = std::to_string(n);
            add("demanded" + number, demanded_[n], bits(kMost));
            add("count" + number, sums_.count[n], bits(kMost));
            add("later" + number, sums_.later[n], bits(kMost));
            add("sum" + number, sums_.sum[n], bits(kMost * (n % kGroup + 1)));
            add("taken" + number, sums_.taken[n], bits(kMost));
            add("offset" + number, sums_.offset[n], bits(kMost * kKernels));
            add("block" + number + "__valid", blocks, 1, n);
            add("block" + number + "__payload", block[n], 42);
        }
        add("total", sums_.total, bits(kMost * kKernels));
        add("hold", hold_, kHold);
        add("quiescent", quiescent, 1);
        add("token_out__valid", token_out_valid, 1);
        add("token_out__payload", token_out_payload[0][0], 34);
    }

private:
    static constexpr int kGroup = 4;
    static constexpr int kAge = 3, kHold = kAge + 1;
    static constexpr uint32_t kHeld = (1 << kHold) - 1;
    static constexpr uint32_t kAll = (uint64_t(1) << kKernels) - 1;
    static constexpr uint64_t kDone = uint64_t(1) << 32, kEpoch = kDone << 1;  // of a token

    // Registers between the demands and what is reserved.
    struct Sums {
        Numbers count = {}, later = {}, sum = {}, taken = {}, offset = {};
        uint32_t total = 0;

        bool operator==(const Sums&) const = default;

        // The last ones first, which take the others as they are.
        void advance(const Numbers& demanded, uint32_t room) {
            total = 0;
            for (int n = 0; n < kKernels; ++n) {
                offset[n] = total + (n % kGroup ? sum[n - 1] : 0);
                if (n % kGroup == kGroup - 1 || n == kKernels - 1) total += sum[n];
            }
            for (int n = 0; n < kKernels; ++n) sum[n] = count[n] + (n % kGroup ? sum[n - 1] : 0);
            for (int n = 0; n < kKernels; ++n) {
                taken[n] = later[n];
                later[n] = count[n];
                count[n] = room >> n & 1 ? demanded[n] : 0;
            }
        }
    };

    // The demands and their sums after a cycle, in which something else changes or not.
    void count(uint32_t asked, uint32_t room, bool moves) {
        moves |= asked != 0;
        if (room != room_) unsettled_ = kAge;
        room_ = room;
        if (unsettled_) {
            if (moves) {
                sums_.advance(demanded_, room);
            } else {
                const Sums before = sums_;
                sums_.advance(demanded_, room);
                moves = sums_ != before;
            }
            --unsettled_;
        }
        if (asked | blocks) {
            for (int n = 0; n < kKernels; ++n) demanded_[n] += asked >> n & 1;
            if (blocks)
                for (int n = 0; n < kKernels; ++n) demanded_[n] -= blocks >> n & 1 ? uint32_t(block[n] >> 32) : 0;
            unsettled_ = kAge;
        }
        quiescent = !moves;
    }

    Sums sums_;
    Numbers demanded_ = {};
    uint32_t hold_ = 0;
    uint32_t room_ = 0;     // in the last cycle
    int unsettled_ = kAge;  // cycles until all sums stay as they are if demands and room do
};

}  // namespace cyscc
