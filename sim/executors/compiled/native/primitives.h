// Components whose instances in all lanes are executed by hand: work is done only for what comes, goes or moves.
//
// Outputs are data members, all functions of registers; `tick` takes the inputs of a cycle. One bit of each lane is a
// number. A port with a bit for each queue is an array of such numbers if the bits come from different places, else an
// array with a number for each lane. An entry is the same for all lanes, of which a word is stored in one number.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "lanes.h"

namespace cyscc {

// A word of something of some bits.
template <int kBits>
using Part = std::conditional_t<kBits <= 32, uint32_t, uint64_t>;

// The registers and memories of a component's instance, by name.
template <class Inventory>
class Registers {
public:
    Registers(Inventory& inventory, const char* place)
        : inventory_(inventory), place_(place) {}

    template <class Value>
    void add(const std::string& name, Value& value, int width) {
        inventory_.add((place_ + name).c_str(), 0, width, &value, sizeof value, 0);
    }
    void add_flag(const std::string& name, Bits& lanes, int lane, int place = 0) {
        inventory_.add((place_ + name).c_str(), place, 1, &lanes, sizeof lanes, lane);
    }
    // A number of several words in different places, or a memory of such, in which a row is `stride` bytes from the next.
    template <class Word>
    void add_word(const std::string& name, Word& word, int number, int width, int rows = 1, int stride = 0) {
        const int left = width - 64 * number;
        inventory_.add((place_ + name).c_str(), 64 * number, left < 64 ? left : 64, &word, sizeof word, 0, rows, stride);
    }

private:
    Inventory& inventory_;
    const std::string place_;
};

// The queues of a `QueueBank`, and which of them have entries and room.
template <int kLanes, int kQueues, int kDepth, int kBits>
class Queues {
    static_assert(kLanes <= 16 && kQueues <= 16);

public:
    static constexpr int kWords = (kBits + 63) / 64;
    static constexpr int kSlack = 2;
    using Word = Part<kBits>;
    using Pushes = Bits[kQueues];
    using Entries = uint64_t[kWords][kQueues];

    // A bit for each queue of a lane: it holds an entry, or more.
    uint32_t some[kLanes];
    uint32_t several[kLanes];
    Bits filled;          // lanes that hold an entry
    Bits room[kQueues];   // lanes, by queue

    Word* head(int lane, int queue) { return entries_[first_[lane][queue]][lane][queue]; }

    void pop(int lane, int queue) {
        first_[lane][queue] = (first_[lane][queue] + 1) % kDepth;
        const int count = --count_[lane][queue];
        if (count < kDepth - kSlack) room[queue] |= 1u << lane;
        if (count > 1) return;
        several[lane] &= ~(1u << queue);
        if (count) return;
        some[lane] &= ~(1u << queue);
        if (!some[lane]) filled &= ~(1u << lane);
    }

    void push(const Pushes& lanes, const Entries& entries) {
        for (int queue = 0; queue < kQueues; ++queue) {
            const uint32_t bit = 1u << queue;
            for (Bits left = lanes[queue]; left; left &= left - 1) {
                const int lane = std::countr_zero(left);
                uint8_t& end = end_[lane][queue];
                for (int word = 0; word < kWords; ++word) entries_[end][lane][queue][word] = Word(entries[word][queue]);
                end = (end + 1) % kDepth;
                const int count = ++count_[lane][queue];
                several[lane] |= some[lane] & bit;
                some[lane] |= bit;
                filled |= 1u << lane;
                if (count >= kDepth - kSlack) room[queue] &= ~(1u << lane);
            }
        }
    }

    // After the registers were set.
    void resume() {
        filled = 0;
        for (Bits& lanes : room) lanes = 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            some[lane] = several[lane] = 0;
            for (int queue = 0; queue < kQueues; ++queue) {
                const int count = count_[lane][queue];
                some[lane] |= uint32_t(count > 0) << queue;
                several[lane] |= uint32_t(count > 1) << queue;
                room[queue] |= Bits(count < kDepth - kSlack) << lane;
            }
            filled |= Bits(some[lane] != 0) << lane;
        }
    }

    template <class Inventory>
    void list(Registers<Inventory>& registers, int lane) {
        constexpr int bits = std::bit_width(unsigned(kDepth - 1));
        for (int queue = 0; queue < kQueues; ++queue) {
            const std::string number = std::to_string(queue);
            registers.add("first" + number, first_[lane][queue], bits);
            registers.add("end" + number, end_[lane][queue], bits);
            registers.add("count" + number, count_[lane][queue], bits + 1);
            for (int word = 0; word < kWords; ++word)
                registers.add_word("entries" + number, entries_[0][lane][queue][word], word, kBits, 2 * kDepth,
                                   sizeof *entries_);
        }
    }

private:
    uint8_t first_[kLanes][kQueues] = {};
    uint8_t end_[kLanes][kQueues] = {};
    uint8_t count_[kLanes][kQueues] = {};
    Word entries_[2 * kDepth][kLanes][kQueues][kWords] = {};  // the upper half is never written
};

// `cyscc.hw.queue_bank`.
template <int kLanes, int kQueues, int kDepth, int kBits>
class QueueBank {
    using Store = Queues<kLanes, kQueues, kDepth, kBits>;

public:
    Bits room[kQueues];
    Bits busy;
    uint32_t available[kLanes];
    uint32_t pulling[kLanes] = {};
    typename Store::Word shown[Store::kWords][kLanes] = {};

    QueueBank() {
        queues_.resume();
        for (int queue = 0; queue < kQueues; ++queue) room[queue] = queues_.room[queue];
        put_out();
    }

    void tick(const typename Store::Pushes& push, const typename Store::Entries& entries,
              const uint32_t (&pull)[kLanes], Bits advance) {
        std::memcpy(room, queues_.room, sizeof room);
        for (int lane = 0; lane < kLanes; ++lane) {
            const uint32_t pulled = pulling[lane];
            if (!(pulled | pull[lane] | (showing_ >> lane & 1)) || !(advance >> lane & 1)) continue;
            showing_ = (showing_ & ~(1u << lane)) | Bits(pulled != 0) << lane;
            pulling[lane] = pull[lane];
            if (!pulled) {
                for (auto& word : shown) word[lane] = 0;
                continue;
            }
            const int queue = std::countr_zero(pulled);
            const auto* head = queues_.head(lane, queue);
            for (int word = 0; word < Store::kWords; ++word) shown[word][lane] = head[word];
            queues_.pop(lane, queue);
        }
        queues_.push(push, entries);
        put_out();
    }

    void resume() {
        queues_.resume();
        showing_ = (Bits(1) << kLanes) - 1;
        put_out();
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        queues_.list(registers, lane);
        for (int queue = 0; queue < kQueues; ++queue) registers.add_flag("room", room[queue], lane, queue);
        registers.add("pulling", pulling[lane], kQueues);
        for (int word = 0; word < Store::kWords; ++word) registers.add_word("shown", shown[word][lane], word, kBits);
    }

private:
    void put_out() {
        busy = queues_.filled;
        for (int lane = 0; lane < kLanes; ++lane)
            available[lane] = queues_.several[lane] | (queues_.some[lane] & ~pulling[lane]);
    }

    Store queues_;
    Bits showing_ = 0;  // lanes that show an entry, or may
};

// `cyscc.hw.arbitrated_queues`.
template <int kLanes, int kQueues, int kDepth, int kBits>
class ArbitratedQueues {
    using Store = Queues<kLanes, kQueues, kDepth, kBits>;

public:
    Bits room[kQueues];
    Bits output_valid = 0;
    Bits busy;
    typename Store::Word output_payload[Store::kWords][kLanes] = {};
    uint32_t source[kLanes] = {};

    ArbitratedQueues() {
        queues_.resume();
        for (int queue = 0; queue < kQueues; ++queue) room[queue] = queues_.room[queue];
        busy = 0;
    }

    void tick(const typename Store::Pushes& push, const typename Store::Entries& entries, Bits output_ready) {
        std::memcpy(room, queues_.room, sizeof room);
        Bits valid = output_valid;
        for (Bits left = (queues_.filled & ~valid) | (valid & output_ready); left; left &= left - 1) {
            const int lane = std::countr_zero(left);
            const uint32_t pulled = pulling_[lane];
            const uint32_t available = queues_.several[lane] | (queues_.some[lane] & ~pulled);
            const uint32_t later = available & above_[lane];
            const uint32_t from = later ? later : available;
            const uint32_t pick = from & -from;
            pulling_[lane] = pick;
            if (pick) above_[lane] = ~(pick | (pick - 1)) & kAllQueues;
            if (pulled) {
                const int queue = std::countr_zero(pulled);
                const auto* head = queues_.head(lane, queue);
                for (int word = 0; word < Store::kWords; ++word) output_payload[word][lane] = head[word];
                queues_.pop(lane, queue);
                source[lane] = queue;
                valid |= 1u << lane;
            } else {
                for (auto& word : output_payload) word[lane] = 0;
                source[lane] = 0;
                valid &= ~(1u << lane);
            }
        }
        output_valid = valid;
        queues_.push(push, entries);
        busy = queues_.filled | valid;
    }

    void resume() {
        queues_.resume();
        busy = queues_.filled | output_valid;
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> own(inventory, place);
        own.add_flag("output__valid", output_valid, lane);
        own.add("source", source[lane], std::bit_width(unsigned(kQueues > 1 ? kQueues - 1 : 1)));
        own.add("arbiter.above", above_[lane], kQueues);
        Registers<Inventory> bank(inventory, (std::string(place) + "bank.").c_str());
        queues_.list(bank, lane);
        for (int queue = 0; queue < kQueues; ++queue) bank.add_flag("room", room[queue], lane, queue);
        bank.add("pulling", pulling_[lane], kQueues);
        for (int word = 0; word < Store::kWords; ++word)
            bank.add_word("shown", output_payload[word][lane], word, kBits);
    }

private:
    static constexpr uint32_t kAllQueues = (uint64_t(1) << kQueues) - 1;

    Store queues_;
    uint32_t pulling_[kLanes] = {};
    uint32_t above_[kLanes] = {};
};

// `cyscc.hw.switch.credit_bank`.
template <int kLanes, int kFifos, int kDepth>
class CreditBank {
public:
    uint32_t available[kLanes];

    CreditBank() {
        resume();
        std::memcpy(available, free_, sizeof available);
    }

    void tick(const uint32_t (&take)[kLanes], const uint32_t (&give)[kLanes]) {
        std::memcpy(available, free_, sizeof available);
        for (int lane = 0; lane < kLanes; ++lane) {
            for (uint32_t left = take[lane] ^ give[lane]; left; left &= left - 1) {
                const int fifo = std::countr_zero(left);
                const int used = used_[lane][fifo] += take[lane] >> fifo & 1 ? 1 : -1;
                const uint32_t bit = 1u << fifo;
                free_[lane] = used < kDepth - 1 ? free_[lane] | bit : free_[lane] & ~bit;
            }
        }
    }

    void resume() {
        for (int lane = 0; lane < kLanes; ++lane) {
            free_[lane] = 0;
            for (int fifo = 0; fifo < kFifos; ++fifo) free_[lane] |= uint32_t(used_[lane][fifo] < kDepth - 1) << fifo;
        }
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        registers.add("available", available[lane], kFifos);
        for (int fifo = 0; fifo < kFifos; ++fifo)
            registers.add("used" + std::to_string(fifo), used_[lane][fifo], std::bit_width(unsigned(kDepth)));
    }

private:
    uint32_t free_[kLanes];
    uint8_t used_[kLanes][kFifos] = {};
};

}  // namespace cyscc
