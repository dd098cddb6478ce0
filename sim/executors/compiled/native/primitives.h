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
    void add_flag(const std::string& name, Mask& lanes, int lane) {
        lanes.list(inventory_, (place_ + name).c_str(), 0, lane);
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

// `cyscc.hw.exchange.visited_bank`. An id has `kRest` bits, and a bit in the bank if none is set above the lowest `kOwn`; a
// row has parts of `kPart` bits.
template <int kLanes, int kRest, int kRows, int kPart, int kOwn>
class VisitedBank {
    using Word = Words<kLanes>;
    static constexpr int kRow = 64;
    static constexpr int kPlace = std::bit_width(unsigned(kRow * kRows - 1));
    static_assert(kRest <= 32 && kPart <= 32);

public:
    Bits fresh_valid = 0;
    uint32_t fresh_payload[1][kLanes] = {};
    Bits held = 0;  // lanes that read or test an id
    Bits idle = (Bits(1) << kLanes) - 1;

    void tick(Bits sweep, const uint32_t (&row)[kLanes], Bits ids_valid, const uint32_t (&ids_payload)[1][kLanes],
              Bits fresh_ready) {
        const Bits advance = ~fresh_valid | fresh_ready;
        const Bits taken = ids_valid & advance & ~sweep;
        const Bits moves = (advance & (held | fresh_valid)) | taken;
        if (moves) move(Mask::of(advance), Mask::of(taken), sweep, ids_payload[0], moves, taken);
        // No id is held then, so that zeros are written.
        for (Bits left = sweep; left; left &= left - 1) {
            const int lane = std::countr_zero(left);
            bits_[lane][row[lane] % kRows] = following(lane) * (~uint64_t(0) / kPartBits);
        }
    }

    void resume() {
        held = among<kLanes>(load(reading_) | load(testing_));
        idle = ~(held | fresh_valid) & ((Bits(1) << kLanes) - 1);
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        registers.add_flag("reading", reading_, lane);
        registers.add_flag("testing", testing_, lane);
        registers.add_flag("reads_bit", reads_bit_, lane);
        registers.add_flag("tests_bit", tests_bit_, lane);
        registers.add_flag("after_first", after_first_, lane);
        registers.add_flag("after_second", after_second_, lane);
        registers.add_flag("fresh__valid", fresh_valid, lane);
        registers.add("read_id", read_id_[lane], kRest);
        registers.add("tested", tested_[lane], kRest);
        registers.add("fresh__payload", fresh_payload[0][lane], kRest);
        registers.add("part", part_[lane], kPart);
        registers.add("newer", newer_[lane], kPart);
        registers.add("written", written_[lane], kPart);
        registers.add("bits.read__data", read_row_[lane], kRow);
        registers.add_word("bits", bits_[lane][0], 0, kRow, kRows, sizeof(uint64_t));
    }

private:
    static constexpr uint64_t kPartBits = (uint64_t(1) << kPart) - 1;

    static int part_of(uint32_t id) { return id / kPart % (kRow / kPart); }
    static int row_of(uint32_t id) { return id / kRow % kRows; }
    // The ids that have a bit.
    static Mask beneath(const Word& id) {
        if constexpr (kOwn >= kRest) return ~Mask{};
        else return ~test(id, Word(uint32_t(~uint64_t(0) << kOwn)));
    }
    static Mask same(const Word& a, const Word& b) {
        return equal((a ^ b) & Word(uint32_t(((1ull << kPlace) - 1) & ~uint64_t(kPart - 1))), Word(0u));
    }
    Word own() const {
        return from_mask(load(tests_bit_), shl(Word(1u), load(tested_) & Word(kPart - 1)));
    }
    uint64_t following(int lane) const {
        alignas(64) uint32_t all[kLanes];
        store(all, load(part_) | load(newer_) | own());
        return all[lane];
    }

    void move(Mask advance, Mask taken, Bits sweep, const uint32_t (&payload)[kLanes], Bits moves, Bits takes) {
        const Mask reading = load(reading_), testing = load(testing_);
        const Mask first = load(after_first_), second = load(after_second_);
        const Word own = this->own(), before = load(part_) | load(newer_), after = before | own;
        const Mask known = test(before, own);
        const Word given = load(payload), read_id = load(read_id_), tested = load(tested_);
        const Mask tests_bit = load(tests_bit_), reads_bit = load(reads_bit_);

        alignas(64) uint32_t shown[kLanes] = {};
        alignas(64) uint32_t written[kLanes];
        store(written, after);
        const Bits writes = among<kLanes>(advance & tests_bit) & ~sweep;
        for (Bits left = moves; left; left &= left - 1) {
            const int lane = std::countr_zero(left);
            uint64_t* const rows = bits_[lane];
            shown[lane] = uint32_t(read_row_[lane] >> kPart * part_of(read_id_[lane]) & kPartBits);
            const uint64_t row = rows[row_of(payload[lane])];
            read_row_[lane] = takes >> lane & 1 ? row : read_row_[lane];
            if (writes >> lane & 1) {
                uint64_t& to = rows[row_of(tested_[lane])];
                const int place = kPart * part_of(tested_[lane]);
                to = (to & ~(kPartBits << place)) | uint64_t(written[lane]) << place;
            }
        }

        const Mask reads = advance & reading, tests = advance & testing;
        const Word left_before = load(written_);
        store(fresh_payload[0], select(tests, tested, load(fresh_payload[0])));
        store(written_, select(tests, after, left_before));
        const Word newer = from_mask(first, after) | from_mask(second, left_before);
        store(newer_, select(advance, from_mask(reading, newer), load(newer_)));
        store(part_, select(advance, from_mask(reading & ~first & ~second, load(shown)), load(part_)));
        after_first_ = select(taken, reading & reads_bit & same(given, read_id), first);
        after_second_ = select(taken, tests_bit & same(given, tested), second);
        store(tested_, select(reads, read_id, tested));
        store(read_id_, select(taken, given, read_id));
        reads_bit_ = select(taken, beneath(given), reads_bit);
        tests_bit_ = select(advance, reading & reads_bit, tests_bit);
        reading_ = select(advance, taken, reading);
        testing_ = select(advance, reading, testing);
        fresh_valid = among<kLanes>(select(advance, testing & ~known, Mask::of(fresh_valid)));
        resume();
    }

    uint64_t read_row_[kLanes] = {};
    uint64_t bits_[kLanes][kRows] = {};
    uint32_t read_id_[kLanes] = {};
    uint32_t tested_[kLanes] = {};
    uint32_t part_[kLanes] = {};
    uint32_t newer_[kLanes] = {};
    uint32_t written_[kLanes] = {};
    Mask reading_, testing_, reads_bit_, tests_bit_, after_first_, after_second_;
};

}  // namespace cyscc
