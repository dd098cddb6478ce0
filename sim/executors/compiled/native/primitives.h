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

// Which of the lowest 16 bits of numbers is set, of which one is at most; 16 if none is. By tests of bytes: to count
// zeros of numbers in registers of 64 bytes lowers a processor's frequency.
template <int k>
inline Bytes<k> place_of(const Words<k>& bits) {
    const BytePart low = cut(bits).v[0], high = cut(shr<8>(bits)).v[0], any = low | high;
    Bytes<k> place;
    place.v[0] = (BytePart((any & 0xaa) != 0) & 1) | (BytePart((any & 0xcc) != 0) & 2) |
                 (BytePart((any & 0xf0) != 0) & 4) | (BytePart(high != 0) & 8) | (BytePart(any == 0) & 16);
    return place;
}

// A byte of each of 16 lanes, for a queue or two. With more at once it would take less time, but processors lower their
// frequency when a part of the instructions as large as this one computes with 64 bytes.
#if defined(__AVX2__)
inline constexpr int kLineQueues = 2;
#else
inline constexpr int kLineQueues = 1;
#endif
typedef uint8_t Line __attribute__((vector_size(16 * kLineQueues)));
typedef uint16_t LinePairs __attribute__((vector_size(16 * kLineQueues)));

#if defined(__AVX2__)
// The same bytes for each queue.
CYSCC_INLINE Line line_of(BytePart bytes) { return Line(_mm256_broadcastsi128_si256(__m128i(bytes))); }
// The bits that any queue has.
CYSCC_INLINE BytePart any_of(Line line) {
    return BytePart(_mm256_extracti128_si256(__m256i(line), 1) | _mm256_castsi256_si128(__m256i(line)));
}
// 0 or -1 for each bit of the queues' lanes.
CYSCC_INLINE Line flags_of(const uint16_t* lanes) {
    uint32_t bits;
    std::memcpy(&bits, lanes, sizeof bits);
#if CYSCC_AVX512
    return Line(_mm256_movm_epi8(bits));
#else
    const auto times = [](uint64_t byte) { return int64_t(byte * 0x0101010101010101); };
    const __m256i from = _mm256_setr_epi64x(times(0), times(1), times(2), times(3));
    const __m256i bit = _mm256_set1_epi64x(int64_t(0x8040201008040201));
    return Line(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(_mm256_set1_epi32(int(bits)), from) & bit, bit));
#endif
}
// Stores the lanes with less than a limit.
CYSCC_INLINE void put_less(uint16_t* lanes, Line line, uint8_t limit) {
#if CYSCC_AVX512
    const uint32_t bits = _mm256_cmplt_epu8_mask(__m256i(line), _mm256_set1_epi8(char(limit)));
#else
    const uint32_t bits = uint32_t(_mm256_movemask_epi8(__m256i(line < limit)));
#endif
    std::memcpy(lanes, &bits, sizeof bits);
}
#else
CYSCC_INLINE Line line_of(BytePart bytes) { return bytes; }
CYSCC_INLINE BytePart any_of(Line line) { return line; }
CYSCC_INLINE Line flags_of(const uint16_t* lanes) { return Line(Mask::of(*lanes).v); }
CYSCC_INLINE void put_less(uint16_t* lanes, Line line, uint8_t limit) {
    *lanes = uint16_t(Mask{Flags(line < limit)}.bits());
}
#endif

// For each queue and lane: the queue, and its bit in the lower or the upper byte of a number.
struct QueueBytes {
    alignas(32) uint8_t queue[16][16] = {};
    alignas(32) uint8_t lower[16][16] = {};
    alignas(32) uint8_t upper[16][16] = {};

    constexpr QueueBytes() {
        for (int n = 0; n < 16; ++n) {
            for (auto& byte : queue[n]) byte = uint8_t(n);
            for (auto& byte : (n < 8 ? lower : upper)[n]) byte = uint8_t(1 << n % 8);
        }
    }
};
inline constexpr QueueBytes kQueueBytes;

// The queues of a `QueueBank`. A lane's queues are bits of a number.
template <int kLanes, int kQueues, int kDepth, int kBits>
class Queues {
    static_assert(kLanes <= 16 && kQueues <= 16 && kDepth <= 64);

public:
    static constexpr int kWords = (kBits + 63) / 64;
    using Word = Part<kBits>;
    using Pushes = Bits[kQueues];
    using Entries = uint64_t[kWords][kQueues];
    using Numbers = Words<kLanes>;

    alignas(64) Bits room[kQueues];  // lanes, by queue
    alignas(64) uint32_t available[kLanes] = {};
    alignas(64) uint32_t pulling[kLanes] = {};
    alignas(64) Word shown[kWords][kLanes] = {};
    Bits busy = 0;

    Queues() {
        for (auto* pointers : {first_, end_}) std::memset(pointers, 1, sizeof first_);
        resume();
        begin();
    }

    // The queue that each lane pulls.
    Bytes<kLanes> source() const { return load(source_); }

    // What a lane pulls is shown if it advances, which then pulls an entry of the queue whose bit is given, if any. All
    // lanes and queues at once, since how many have something to do no processor predicts.
    void tick(const Pushes& push, const Entries& entries, const Numbers& pull, Bits advances) {
        begin();
        const Mask advance = Mask::of(advances);
        for (int word = 0; word < kWords; ++word) store(shown[word], select(advance, head(word), load(shown[word])));

        alignas(64) uint16_t pushes[kLines * kLineQueues] = {};
        for (int queue = 0; queue < kQueues; ++queue) pushes[queue] = uint16_t(push[queue]);
        const Bytes<kLanes> next = place_of(pull);
        const Line leaving = line_of(select(advance, source(), Bytes<kLanes>(kNone)).v[0]), pulled = line_of(next.v[0]);
        const Line none{};
        Line places{}, differing{}, lower{}, upper{};
        for (int n = 0; n < kLines; ++n) {
            const int number = n * kLineQueues;
            const Line queue = line(kQueueBytes.queue[number]);
            const Line comes = flags_of(pushes + number);
            const Line first = first_[n], following = behind(first), count = count_[n] - comes;
            const Line place = pulled == queue ? first : none;
            first_[n] = pulled == queue ? following : first;
            place_[n] = (leaving == queue ? none : place_[n]) | place;
            count_[n] = leaving == queue ? count - 1 : count;
            put_less(free_ + number, count_[n], kCapacity - kSlack);
            places |= place;
            differing |= pulled == queue ? following ^ end_[n] : none;
            lower |= comes & line(kQueueBytes.lower[number]);
            upper |= comes & line(kQueueBytes.upper[number]);
        }
        const Mask pulls = test(pull, Numbers(~0u)), last = pulls & equal(numbers(differing), Numbers(0u));
        store(head_, select(advance, from_mask(pulls, index(numbers(places), as<Numbers>(next))), load(head_)));
        store(source_, select(advance, next, source()));
        store(pulling, select(advance, pull, load(pulling)));
        store(available, (load(available) ^ from_mask(last, pull)) | numbers(lower) | shl<8>(numbers(upper)));
        busy = among<kLanes>(test(load(available) | load(pulling), Numbers(~0u)));

        for_each(present(push), [&](size_t queue) {
            Bits lanes = push[queue];
            do {
                const size_t lane = std::countr_zero(lanes);
                const uint8_t end = byte(end_, lane, queue);
                Word(&entry)[kWords] = entries_[index(end, lane, queue)];
                for (int word = 0; word < kWords; ++word) entry[word] = Word(entries[word][queue]);
                byte(end_, lane, queue) = kFollowing[end];
            } while (lanes &= lanes - 1);
        });
    }

    // After the registers were set.
    void resume() {
        busy = 0;
        for (int n = 0; n < kLines; ++n) put_less(free_ + n * kLineQueues, count_[n], kCapacity - kSlack);
        for (int lane = 0; lane < kLanes; ++lane) {
            const int queue = std::countr_zero(pulling[lane]);
            head_[lane] = pulling[lane] ? uint32_t(index(byte(place_, lane, queue), lane, queue)) : 0;
            source_[lane] = uint8_t(pulling[lane] ? queue : kNone);
            busy |= Bits((available[lane] | pulling[lane]) != 0) << lane;
        }
    }

    template <class Inventory>
    void list(Registers<Inventory>& registers, int lane) {
        for (int queue = 0; queue < kQueues; ++queue) {
            const std::string number = std::to_string(queue);
            registers.add("first" + number, byte(first_, lane, queue), kPointer);
            registers.add("end" + number, byte(end_, lane, queue), kPointer);
            registers.add("place" + number, byte(place_, lane, queue), kPointer);
            registers.add("count" + number, byte(count_, lane, queue), kPointer);
            registers.add_flag("room", room[queue], lane, queue);
            for (int word = 0; word < kWords; ++word)
                registers.add_word("entries" + number, entries_[index(0, lane, queue)][word], word, kBits, 2 * kDepth,
                                   kLanes * kQueues * sizeof *entries_);
        }
        registers.add("available", available[lane], kQueues);
        registers.add("pulling", pulling[lane], kQueues);
        for (int word = 0; word < kWords; ++word) registers.add_word("shown", shown[word][lane], word, kBits);
    }

private:
    static constexpr Bits kAll = (Bits(1) << kLanes) - 1;
    static constexpr int kSlack = 2;
    static constexpr int kCapacity = 2 * kDepth - 1;
    static constexpr int kPointer = std::bit_width(unsigned(kDepth));
    static constexpr int kLines = (kQueues + kLineQueues - 1) / kLineQueues;
    static constexpr int kNone = 16;

    // The places in the order of a shift register with feedback, which leaves out place 0.
    static constexpr int kFed = std::array{0, 0, 0, 1, 2, 2, 4, 5}[kPointer];
    static constexpr auto kFollowing = [] {
        std::array<uint8_t, 2 * kDepth> found{};
        for (int place = 0; place < 2 * kDepth; ++place) {
            const int last = place >> (kPointer - 1) & 1, other = place >> kFed & 1;
            found[place] = uint8_t((place << 1 & (2 * kDepth - 1)) | (last ^ other));
        }
        return found;
    }();
    static Line behind(Line place) {
        const LinePairs pairs = LinePairs(place);
        return ((place + place) & uint8_t(2 * kDepth - 1)) | (Line(pairs >> (kPointer - 1) ^ pairs >> kFed) & 1);
    }

    // Where an entry is. The first one is place 0 of a queue, so that it is 0.
    static size_t index(size_t place, size_t lane, size_t queue) { return (place * kLanes + lane) * kQueues + queue; }
    static Numbers index(const Numbers& place, const Numbers& queue) {
        alignas(64) uint32_t of_lane[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) of_lane[lane] = uint32_t(index(0, lane, 0));
        return place * Numbers(kLanes * kQueues) + load(of_lane) + queue;
    }

    // A word of the entry that each lane pulls; 0 if it pulls none.
    auto head(int word) const {
        using Value = decltype(load(shown[word]));
        return Value::make([&](int n) {
            typename Value::Part part{};
            for (int lane = n * Value::kEach; lane < kLanes && lane < (n + 1) * Value::kEach; ++lane)
                part[lane % Value::kEach] = entries_[head_[lane]][word];
            return part;
        });
    }

    static uint8_t& byte(Line* lines, size_t lane, size_t queue) {
        return reinterpret_cast<uint8_t*>(lines)[16 * queue + lane];
    }
    static Line line(const uint8_t (&bytes)[16]) {
        Line line;
        std::memcpy(&line, bytes, sizeof line);
        return line;
    }
    // What any queue has, by lane.
    static Numbers numbers(Line line) {
        Bytes<kLanes> bytes;
        bytes.v[0] = any_of(line);
        return as<Numbers>(bytes);
    }

    void begin() {
        for (int queue = 0; queue < kQueues; ++queue) room[queue] = free_[queue] & kAll;
    }

    alignas(64) uint16_t free_[kLines * kLineQueues];  // `room` in the next cycle
    alignas(64) uint32_t head_[kLanes];                // the entry that is pulled
    alignas(16) uint8_t source_[kLanes];               // its queue
    alignas(64) Line first_[kLines];
    Line end_[kLines];
    Line place_[kLines] = {};
    Line count_[kLines] = {};
    Word entries_[2 * kDepth * kLanes * kQueues][kWords] = {};
};

// `cyscc.hw.queue_bank`.
template <int kLanes, int kQueues, int kDepth, int kBits>
class QueueBank : public Queues<kLanes, kQueues, kDepth, kBits> {
    using Store = Queues<kLanes, kQueues, kDepth, kBits>;

public:
    void tick(const typename Store::Pushes& push, const typename Store::Entries& entries,
              const uint32_t (&pull)[kLanes], Bits advance) {
        Store::tick(push, entries, from_mask(Mask::of(advance), load(pull)), advance);
    }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        Store::list(registers, lane);
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
    decltype(queues_.shown)& output_payload = queues_.shown;
    Bits output_valid = 0;
    Bits busy = 0;
    uint32_t source[kLanes] = {};

    void tick(const typename Store::Pushes& push, const typename Store::Entries& entries, Bits output_ready) {
        const Bits advances = ~output_valid | output_ready, pulling = present(queues_.pulling);
        const Mask advance = Mask::of(advances);
        store(source, select(advance, from_mask(Mask::of(pulling), as<Word>(queues_.source())), load(source)));
        output_valid = (output_valid & ~advances) | (pulling & advances);
        // Of the queues of a lane with an entry, the first above the one that was served last, or the first of all.
        const Word available = load(queues_.available), above = load(above_), later = available & above;
        const Word from = select(test(later, Word(~0u)), later, available), pick = from & (Word(0u) - from);
        const Mask chooses = test(available, Word(~0u)) & advance;
        store(above_, select(chooses, (Word(0u) - pick - pick) & Word(kAllQueues), above));
        queues_.tick(push, entries, from_mask(advance, pick), advances);
        busy = queues_.busy | output_valid;
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
    }

private:
    static constexpr uint32_t kAllQueues = (uint64_t(1) << kQueues) - 1;

    uint32_t above_[kLanes] = {};
};

// `cyscc.hw.switch.credit_bank`.
template <int kLanes, int kFifos, int kDepth>
class CreditBank {
    static_assert(kFifos <= 16 && kDepth < 256);

public:
    alignas(64) uint32_t available[kLanes];

    CreditBank() {
        resume();
        std::memcpy(available, free_, sizeof available);
    }

    // All lanes and FIFOs at once, since how many are taken or given no processor predicts.
    void tick(const uint32_t (&take)[kLanes], const uint32_t (&give)[kLanes]) {
        std::memcpy(available, free_, sizeof available);
        count(load(take), load(give));
    }

    void resume() { count(Words<kLanes>(0u), Words<kLanes>(0u)); }

    template <class Inventory>
    void list(Inventory& inventory, const char* place, int lane) {
        Registers<Inventory> registers(inventory, place);
        registers.add("available", available[lane], kFifos);
        for (int fifo = 0; fifo < kFifos; ++fifo) {
            uint8_t& used = reinterpret_cast<uint8_t*>(&used_[fifo])[lane];
            registers.add("used" + std::to_string(fifo), used, std::bit_width(unsigned(kDepth)));
        }
    }

private:
    void count(const Words<kLanes>& take, const Words<kLanes>& give) {
        const auto halves = [](const Words<kLanes>& bits) { return std::array{cut(bits).v[0], cut(shr<8>(bits)).v[0]}; };
        const auto takes = halves(take), gives = halves(give);
        Bytes<kLanes> free[2] = {Bytes<kLanes>(0), Bytes<kLanes>(0)};
        for (int fifo = 0; fifo < kFifos; ++fifo) {
            const auto of_fifo = [fifo](BytePart bits) { return BytePart((bits & uint8_t(1 << fifo % 8)) != 0); };
            const BytePart used = used_[fifo] - of_fifo(takes[fifo / 8]) + of_fifo(gives[fifo / 8]);
            used_[fifo] = used;
            free[fifo / 8].v[0] |= BytePart(used < uint8_t(kDepth - 1)) & uint8_t(1 << fifo % 8);
        }
        store(free_, as<Words<kLanes>>(free[0]) | shl<8>(as<Words<kLanes>>(free[1])));
    }

    alignas(64) uint32_t free_[kLanes];
    BytePart used_[kFifos] = {};  // a byte of each lane
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
