// Components whose instances in all lanes are executed by hand: work is done only for what comes, goes or moves.
//
// Outputs are data members, all functions of registers; `tick` takes the inputs of a cycle. One bit of each lane is a
// number. A port with a bit for each queue is an array of such numbers if the bits come from different places, else an
// array with a number for each lane. An entry is the same for all lanes, of which a word is stored in one number.
#pragma once

#include <array>
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

// Which of some numbers are not 0.
template <int k>
inline Bits present(const uint32_t (&numbers)[k]) {
    return among<k>(test(load(numbers), Words<k>(~0u)));
}

// Calls a function with each of some lanes. How many there are no processor predicts, so that all that is done for a lane
// is best done without branches, and what is done for few of them in a loop of its own.
template <class Function>
inline void for_each(Bits lanes, Function&& function) {
    for (; lanes; lanes &= lanes - 1) function(std::countr_zero(lanes));
}

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
    void add_flag(const std::string& name, Mask& lanes, int lane, int place = 0) {
        lanes.list(inventory_, (place_ + name).c_str(), place, lane);
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

// The queues of a `QueueBank`, up to the entry that is pulled. A lane's queues are bits of a number.
template <int kLanes, int kQueues, int kDepth, int kBits>
class Queues {
    static_assert(kLanes <= 16 && kQueues <= 16 && kDepth <= 64);

public:
    static constexpr int kWords = (kBits + 63) / 64;
    using Word = Part<kBits>;
    using Pushes = Bits[kQueues];
    using Entries = uint64_t[kWords][kQueues];

    Bits room[kQueues];   // lanes, by queue
    uint32_t available[kLanes] = {};
    uint32_t pulling[kLanes] = {};
    Bits busy = 0;

    Queues() {
        for (auto* pointers : {first_, end_})
            for (int lane = 0; lane < kLanes; ++lane) std::memset(pointers[lane], 1, kQueues);
        resume();
        begin();
    }

    // A cycle begins.
    void begin() { std::memcpy(room, free_, sizeof room); }

    // The entry that a lane pulls.
    const Word* head(int lane) const {
        const int queue = std::countr_zero(pulling[lane]);
        return entries_[place_[lane][queue]][lane][queue];
    }

    // What a lane pulls leaves.
    void leave(int lane) {
        const int queue = std::countr_zero(pulling[lane]);
        place_[lane][queue] = 0;
        pulling[lane] = 0;
        const bool free = --count_[lane][queue] < kCapacity - kSlack;
        free_[queue] |= Bits(free) << lane;
        busy &= ~(Bits(available[lane] == 0) << lane);
    }

    // A lane, which pulls nothing, begins to pull an entry of a queue.
    void pull(int lane, uint32_t bit) {
        const int queue = std::countr_zero(bit);
        const uint8_t first = first_[lane][queue], following = kFollowing[first];
        pulling[lane] = bit;
        place_[lane][queue] = first;
        __builtin_prefetch(entries_[first][lane][queue]);
        first_[lane][queue] = following;
        available[lane] &= ~(uint32_t(following == end_[lane][queue]) << queue);
        busy |= 1u << lane;
    }

    void push(const Pushes& lanes, const Entries& entries) {
        for_each(present(lanes), [&](int queue) {
            for (Bits left = lanes[queue]; left; left &= left - 1) {
                const int lane = std::countr_zero(left);
                const uint8_t end = end_[lane][queue];
                for (int word = 0; word < kWords; ++word) entries_[end][lane][queue][word] = Word(entries[word][queue]);
                end_[lane][queue] = kFollowing[end];
                available[lane] |= 1u << queue;
                const bool full = ++count_[lane][queue] >= kCapacity - kSlack;
                free_[queue] &= ~(Bits(full) << lane);
            }
            busy |= lanes[queue];
        });
    }

    // After the registers were set.
    void resume() {
        busy = 0;
        for (Bits& lanes : free_) lanes = 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            for (int queue = 0; queue < kQueues; ++queue)
                free_[queue] |= Bits(count_[lane][queue] < kCapacity - kSlack) << lane;
            busy |= Bits((available[lane] | pulling[lane]) != 0) << lane;
        }
    }

    template <class Inventory>
    void list(Registers<Inventory>& registers, int lane) {
        for (int queue = 0; queue < kQueues; ++queue) {
            const std::string number = std::to_string(queue);
            registers.add("first" + number, first_[lane][queue], kPointer);
            registers.add("end" + number, end_[lane][queue], kPointer);
            registers.add("place" + number, place_[lane][queue], kPointer);
            registers.add("count" + number, count_[lane][queue], kPointer);
            registers.add_flag("room", room[queue], lane, queue);
            for (int word = 0; word < kWords; ++word)
                registers.add_word("entries" + number, entries_[0][lane][queue][word], word, kBits, 2 * kDepth,
                                   sizeof *entries_);
        }
        registers.add("available", available[lane], kQueues);
        registers.add("pulling", pulling[lane], kQueues);
    }

private:
    static constexpr int kSlack = 2;
    static constexpr int kCapacity = 2 * kDepth - 1;
    static constexpr int kPointer = std::bit_width(unsigned(kDepth));

    // The places in the order of a shift register with feedback, which leaves out place 0.
    static constexpr auto kFollowing = [] {
        constexpr int fed[] = {0, 0, 0, 1, 2, 2, 4, 5};
        std::array<uint8_t, 2 * kDepth> found{};
        for (int place = 0; place < 2 * kDepth; ++place) {
            const int last = place >> (kPointer - 1) & 1, other = place >> fed[kPointer] & 1;
            found[place] = uint8_t((place << 1 & (2 * kDepth - 1)) | (last ^ other));
        }
        return found;
    }();

    Bits free_[kQueues];  // `room` in the next cycle
    uint8_t first_[kLanes][kQueues];
    uint8_t end_[kLanes][kQueues];
    uint8_t place_[kLanes][kQueues] = {};
    uint8_t count_[kLanes][kQueues] = {};
    Word entries_[2 * kDepth][kLanes][kQueues][kWords] = {};
};

// `cyscc.hw.queue_bank`.
template <int kLanes, int kQueues, int kDepth, int kBits>
class QueueBank : public Queues<kLanes, kQueues, kDepth, kBits> {
    using Store = Queues<kLanes, kQueues, kDepth, kBits>;

public:
    typename Store::Word shown[Store::kWords][kLanes] = {};

    void tick(const typename Store::Pushes& push, const typename Store::Entries& entries,
              const uint32_t (&pull)[kLanes], Bits advance) {
        Store::begin();
        const Bits left = present(Store::pulling) & advance;
        const Mask stays = Mask::of(~advance);
        for (auto& word : shown) store(word, from_mask(stays, load(word)));
        for_each(left, [this](int lane) {
            const auto* head = Store::head(lane);
            for (int word = 0; word < Store::kWords; ++word) shown[word][lane] = head[word];
            Store::leave(lane);
        });
        for_each(present(pull) & advance, [&](int lane) { Store::pull(lane, pull[lane]); });
        Store::push(push, entries);
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        Store::list(registers, lane);
        for (int word = 0; word < Store::kWords; ++word) registers.add_word("shown", shown[word][lane], word, kBits);
    }
};

// `cyscc.hw.arbitrated_queues`.
template <int kLanes, int kQueues, int kDepth, int kBits>
class ArbitratedQueues {
    using Store = Queues<kLanes, kQueues, kDepth, kBits>;
    using Word = Words<kLanes>;
    Store queues_;

public:
    decltype(queues_.room)& room = queues_.room;
    Bits output_valid = 0;
    Bits busy = 0;
    typename Store::Word output_payload[Store::kWords][kLanes] = {};
    uint32_t source[kLanes] = {};

    void tick(const typename Store::Pushes& push, const typename Store::Entries& entries, Bits output_ready) {
        queues_.begin();
        const Bits advance = ~output_valid | output_ready;
        const Bits left = present(queues_.pulling) & advance;
        const Bits valid = (output_valid & ~advance) | left;
        // Of the queues of a lane with an entry, the first above the one that was served last, or the first of all.
        const Word available = load(queues_.available), later = available & load(above_);
        const Word from = select(test(later, Word(~0u)), later, available), pick = from & (Word(0u) - from);
        const Bits chooses = among<kLanes>(test(available, Word(~0u))) & advance;
        alignas(64) uint32_t picks[kLanes];
        store(picks, pick);
        store(above_, select(Mask::of(chooses), (Word(0u) - pick - pick) & Word(kAllQueues), load(above_)));
        const Mask stays = Mask::of(valid);
        for (auto& word : output_payload) store(word, from_mask(stays, load(word)));
        store(source, from_mask(stays, load(source)));
        for_each(left, [this](int lane) {
            const auto* head = queues_.head(lane);
            for (int word = 0; word < Store::kWords; ++word) output_payload[word][lane] = head[word];
            source[lane] = std::countr_zero(queues_.pulling[lane]);
            queues_.leave(lane);
        });
        for_each(chooses, [&](int lane) { queues_.pull(lane, picks[lane]); });
        output_valid = valid;
        queues_.push(push, entries);
        busy = queues_.busy | valid;
    }

    void resume() {
        queues_.resume();
        busy = queues_.busy | output_valid;
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> own(inventory, place);
        own.add_flag("output__valid", output_valid, lane);
        own.add("source", source[lane], std::bit_width(unsigned(kQueues > 1 ? kQueues - 1 : 1)));
        own.add("arbiter.above", above_[lane], kQueues);
        Registers<Inventory> bank(inventory, (std::string(place) + "bank.").c_str());
        queues_.list(bank, lane);
        for (int word = 0; word < Store::kWords; ++word)
            bank.add_word("shown", output_payload[word][lane], word, kBits);
    }

private:
    static constexpr uint32_t kAllQueues = (uint64_t(1) << kQueues) - 1;

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
        const auto add = [this](int lane, uint32_t fifos, int places) {
            for (uint32_t left = fifos; left; left &= left - 1) {
                const int fifo = std::countr_zero(left);
                const bool free = (used_[lane][fifo] += places) < kDepth - 1;
                free_[lane] = (free_[lane] & ~(1u << fifo)) | uint32_t(free) << fifo;
            }
        };
        for_each(present(take), [&](int lane) { add(lane, take[lane], 1); });
        for_each(present(give), [&](int lane) { add(lane, give[lane], -1); });
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

// `cyscc.hw.queue`.
template <int kLanes, int kDepth, int kBits>
class Queue {
public:
    static constexpr int kWords = (kBits + 63) / 64;
    using Word = Part<kBits>;
    using Stored = std::conditional_t<kBits <= 8, uint8_t, Word>;  // a deep queue shall stay in the first cache

    Bits input_ready = 0;
    Bits output_valid = 0;
    Bits moving = 0;
    Word output_payload[kWords][kLanes] = {};
    uint32_t level[kLanes] = {};

    Queue() { resume(); }

    void tick(Bits input_valid, const Word (&input_payload)[kWords][kLanes], Bits output_ready) {
        const Bits advance = ~output_valid | output_ready;
        const Bits writes = input_valid & input_ready;
        const Bits reads = filled_ & (~shown_ | advance);
        const Bits shows = advance & shown_;
        const Mask showing = Mask::of(shows);
        for (int word = 0; word < kWords; ++word)
            store(output_payload[word], select(showing, load(read_[word]), load(output_payload[word])));
        for_each(reads, [this](int lane) {
            const int consume = consume_[lane];
            for (int word = 0; word < kWords; ++word) read_[word][lane] = entries_[lane][consume][word];
            consume_[lane] = (consume + 1) % kDepth;
        });
        for_each(writes, [&](int lane) {
            const int produce = produce_[lane];
            for (int word = 0; word < kWords; ++word) entries_[lane][produce][word] = Stored(input_payload[word][lane]);
            produce_[lane] = (produce + 1) % kDepth;
        });
        const Words<kLanes> one(1u);
        store(inner_level_, load(inner_level_) + from_mask(Mask::of(writes), one) - from_mask(Mask::of(reads), one));
        output_valid = shows | (output_valid & ~advance);
        shown_ = reads | (shown_ & ~advance);
        put_out();
    }

    void resume() { put_out(); }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        constexpr int pointer = std::bit_width(unsigned(kDepth - 1));
        Registers<Inventory> registers(inventory, place);
        registers.add_flag("output__valid", output_valid, lane);
        registers.add_flag("fifo.r_rdy", shown_, lane);
        registers.add("fifo.inner_level", inner_level_[lane], std::bit_width(unsigned(kDepth)));
        registers.add("fifo.produce", produce_[lane], pointer);
        registers.add("fifo.consume", consume_[lane], pointer);
        for (int word = 0; word < kWords; ++word) {
            registers.add_word("entry", output_payload[word][lane], word, kBits);
            registers.add_word("fifo.storage.r_port__data", read_[word][lane], word, kBits);
            registers.add_word("fifo.storage", entries_[lane][0][word], word, kBits, kDepth, sizeof **entries_);
        }
    }

private:
    void put_out() {
        const Words<kLanes> one(1u), held = load(inner_level_);
        filled_ = present(inner_level_);
        input_ready = among<kLanes>(~equal(held, Words<kLanes>(uint32_t(kDepth))));
        moving = (filled_ & ~shown_) | (shown_ & ~output_valid);
        store(level, held + from_mask(Mask::of(shown_), one) + from_mask(Mask::of(output_valid), one));
    }

    Bits filled_ = 0;  // lanes with an entry in the memory
    Bits shown_ = 0;   // lanes whose memory shows an entry
    uint32_t inner_level_[kLanes] = {};
    uint16_t produce_[kLanes] = {};
    uint16_t consume_[kLanes] = {};
    Word read_[kWords][kLanes] = {};
    Stored entries_[kLanes][kDepth][kWords] = {};
};

// `cyscc.hw.switch.request_skid`. The number of a request's link consists of bits `kLink` of the word `kPlace`.
template <int kLanes, int kBits, int kPlace, int... kLink>
class RequestSkid {
public:
    static constexpr int kWords = (kBits + 63) / 64;
    using Word = Part<kBits>;

    Bits input_ready = kAll;
    Bits output_valid = 0;
    Bits first = 0;
    uint32_t link[kLanes] = {};
    Word even[kWords][kLanes] = {};
    Word odd[kWords][kLanes] = {};
    Word output_payload[kWords][kLanes] = {};

    void tick(Bits input_valid, const Word (&input_payload)[kWords][kLanes], Bits output_ready) {
        const Bits taken = input_valid & input_ready, left = output_valid & output_ready;
        const Mask next = Mask::of((~output_valid & taken) | left), full = Mask::of(~input_ready), odd_first = Mask::of(first);
        const Mask to_even = Mask::of(taken & ~end_), to_odd = Mask::of(taken & end_);
        const auto behind = select(odd_first, load(even[kPlace]), load(odd[kPlace]));
        const auto following = select(full, behind, load(input_payload[kPlace]));
        store(link, select(next, link_of(as<Words<kLanes>>(following)), load(link)));
        for (int word = 0; word < kWords; ++word) {
            const auto given = load(input_payload[word]);
            store(even[word], select(to_even, given, load(even[word])));
            store(odd[word], select(to_odd, given, load(odd[word])));
        }
        output_valid = (taken | ~input_ready | (output_valid & ~left)) & kAll;
        end_ ^= taken;
        first ^= left;
        put_out();
    }

    void resume() { put_out(); }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        registers.add_flag("output__valid", output_valid, lane);
        registers.add_flag("first", first, lane);
        registers.add_flag("end", end_, lane);
        registers.add("link", link[lane], sizeof...(kLink) ? sizeof...(kLink) : 1);
        for (int word = 0; word < kWords; ++word) {
            registers.add_word("even", even[word][lane], word, kBits);
            registers.add_word("odd", odd[word][lane], word, kBits);
        }
    }

private:
    static constexpr Bits kAll = (Bits(1) << kLanes) - 1;

    static Words<kLanes> link_of(const Words<kLanes>& word) {
        Words<kLanes> number(0u);
        int place = 0;
        ((number = number | shl(shr<kLink>(word) & Words<kLanes>(1u), Words<kLanes>(uint32_t(place++)))), ...);
        return number;
    }

    void put_out() {
        input_ready = ~(output_valid & ~(first ^ end_)) & kAll;
        const Mask odd_first = Mask::of(first);
        for (int word = 0; word < kWords; ++word)
            store(output_payload[word], select(odd_first, load(odd[word]), load(even[word])));
    }

    Bits end_ = 0;
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
    Bits idle = kAll;

    void tick(Bits sweep, const uint32_t (&row)[kLanes], Bits ids_valid, const uint32_t (&ids_payload)[1][kLanes],
              Bits fresh_ready) {
        const Bits advance = ~fresh_valid | fresh_ready;
        const Bits taken = ids_valid & advance & ~sweep;
        if ((advance & (held | fresh_valid)) | taken) move(advance, taken, sweep, ids_payload[0]);
        // No id is held then, so that zeros are written.
        for (Bits left = sweep; left; left &= left - 1) {
            const int lane = std::countr_zero(left);
            bits_[lane][row[lane] % kRows] = 0;
        }
    }

    void resume() {
        held = among<kLanes>(load(reading_) | load(testing_));
        idle = ~(held | fresh_valid) & kAll;
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        registers.add_flag("reading", reading_, lane);
        registers.add_flag("testing", testing_, lane);
        registers.add_flag("reads_bit", reads_bit_, lane);
        registers.add_flag("tests_bit", tests_bit_, lane);
        for (int place = 0; place < 2; ++place) {
            registers.add_flag("reads_behind", reads_behind_[place], lane, place);
            registers.add_flag("tests_behind", tests_behind_[place], lane, place);
        }
        registers.add_flag("fresh__valid", fresh_valid, lane);
        registers.add("read_id", read_id_[lane], kRest);
        registers.add("tested", tested_[lane], kRest);
        registers.add("fresh__payload", fresh_payload[0][lane], kRest);
        registers.add("last", last_[lane], kPart);
        registers.add("second_last", second_last_[lane], kPart);
        registers.add("row", row_[lane], kRow);
        registers.add("bits.read__data", read_row_[lane], kRow);
        registers.add_word("bits", bits_[lane][0], 0, kRow, kRows, sizeof(uint64_t));
    }

private:
    static constexpr Bits kAll = (Bits(1) << kLanes) - 1;
    static constexpr uint64_t kPartBits = (uint64_t(1) << kPart) - 1;

    static int row_of(uint32_t id) { return id / kRow % kRows; }
    // The ids that have a bit.
    static Mask beneath(const Word& id) {
        if constexpr (kOwn >= kRest) return ~Mask{};
        else return ~test(id, Word(uint32_t(~uint64_t(0) << kOwn)));
    }
    static Mask same(const Word& a, const Word& b) {
        return equal((a ^ b) & Word(uint32_t(((1ull << kPlace) - 1) & ~uint64_t(kPart - 1))), Word(0u));
    }

    void move(Bits advances, Bits takes, Bits sweep, const uint32_t (&payload)[kLanes]) {
        const Bits moves = advances & held;
        const Mask taken = Mask::of(takes), advance = Mask::of(advances), moved = Mask::of(moves);
        const Mask reading = load(reading_), testing = load(testing_);
        const Mask tests_bit = load(tests_bit_), reads_bit = load(reads_bit_);
        const Mask reads_first = load(reads_behind_[0]), reads_second = load(reads_behind_[1]);
        const Word given = load(payload), read_id = load(read_id_), tested = load(tested_);
        const Word last = load(last_), second_last = load(second_last_);

        const auto row = load(row_);
        const auto place = as<Longs<kLanes>>(tested & Word(kRow - kPart));
        const Word shown = as<Word>(shr(row, place) & Longs<kLanes>(kPartBits));
        const Word before = shown | from_mask(load(tests_behind_[0]), last) | from_mask(load(tests_behind_[1]), second_last);
        const Word own = from_mask(tests_bit, shl(Word(1u), tested & Word(kPart - 1)));
        const Word following = before | own;

        // All lanes, since how many have an id no processor predicts: what a lane without one reads is not used, and a
        // lane that writes nothing writes what is there.
        alignas(64) uint64_t read[kLanes], cleared[kLanes], set[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) read[lane] = bits_[lane][row_of(payload[lane])];
        const Mask rows = reading & ~reads_first & ~reads_second;
        const Mask writes = tests_bit & advance & ~Mask::of(sweep);
        store(cleared, from_mask(writes, shl(Longs<kLanes>(kPartBits), place)));
        store(set, from_mask(writes, shl(as<Longs<kLanes>>(following), place)));
        for (int lane = 0; lane < kLanes; ++lane) {
            uint64_t& to = bits_[lane][row_of(tested_[lane])];
            to = (to & ~cleared[lane]) | set[lane];
        }
        store(row_, select(moved, from_mask(rows, load(read_row_)), row));
        store(read_row_, select(taken, load(read), load(read_row_)));

        reads_behind_[0] = select(taken, reading & reads_bit & same(given, read_id), reads_first);
        reads_behind_[1] = select(taken, tests_bit & same(given, tested), reads_second);
        tests_behind_[0] = select(moved, reads_first & reading, load(tests_behind_[0]));
        tests_behind_[1] = select(moved, reads_second & reading, load(tests_behind_[1]));
        store(fresh_payload[0], select(moved, tested, load(fresh_payload[0])));
        store(last_, select(moved, following, last));
        store(second_last_, select(moved, last, second_last));
        store(tested_, select(moved, read_id, tested));
        store(read_id_, select(taken, given, read_id));
        reads_bit_ = select(taken, beneath(given), reads_bit);
        tests_bit_ = select(moved, reading & reads_bit, tests_bit);
        testing_ = select(moved, reading, testing);
        reading_ = select(advance, taken, reading);
        fresh_valid = (fresh_valid & ~advances) | (among<kLanes>(testing & ~test(before, own)) & advances);
        resume();
    }

    uint64_t row_[kLanes] = {};
    uint64_t read_row_[kLanes] = {};
    uint64_t bits_[kLanes][kRows] = {};
    uint32_t read_id_[kLanes] = {};
    uint32_t tested_[kLanes] = {};
    uint32_t last_[kLanes] = {};
    uint32_t second_last_[kLanes] = {};
    Mask reading_, testing_, reads_bit_, tests_bit_, reads_behind_[2], tests_behind_[2];
};

}  // namespace cyscc
