// Waveforms: what changes in the cycles of a window, written to a file while they run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "signals.h"

namespace cyscc {

// Some bits of a variable: where they are, and their place in it.
struct WavePart {
    const char* address;
    int64_t bytes, shift, width, place;
};

// A variable of the file: the number by which it is looked at, its parts (what they leave is 0), its width, what the file
// calls it, and where the texts of its values begin; none if its bits are shown.
struct WaveTarget {
    int64_t group, first_part, parts, width, number, names;
    const char* key;
};

// The file as Python has begun it: the head is written. Python keeps the tables. A descriptor of a VCD file, or the functions of an FST writer.
struct WaveSink {
    const WavePart* parts;
    const WaveTarget* targets;
    int64_t count;
    const char* const* names;
    int64_t first_cycle, last_cycle;
    int64_t descriptor;
    void* writer;
    void (*time)(void* writer, uint64_t time);
    void (*bits)(void* writer, uint32_t number, const void* value);
    void (*text)(void* writer, uint32_t number, const void* value, uint32_t length);
    void (*flush)(void* writer);
};

// Writes a VCD file; remembers why it cannot.
class VcdSink {
public:
    explicit VcdSink(int descriptor) : descriptor_(descriptor) {}

    void time(int64_t cycle);
    void bits(const WaveTarget& target, std::string_view value);
    void text(const WaveTarget& target, const char* value);

    // Ends what was begun, and writes what waits.
    void finish();
    int error() const { return error_; }

private:
    template <class... Parts>
    void put(const Parts&... parts);
    void close();
    void write();

    const int descriptor_;
    int error_ = 0;
    bool begun_ = false;
    bool whole_ = true;
    std::string waiting_;
};

// Hands values to an FST writer, which keeps them until there are enough to be worth compressing.
class FstSink {
public:
    explicit FstSink(const WaveSink& to) : to_(to) {}

    void time(int64_t cycle);
    void bits(const WaveTarget& target, std::string_view value);
    void text(const WaveTarget& target, const char* value);

private:
    const WaveSink to_;
    size_t waiting_ = 0;
};

// The variables of a file. Where their bits are is compared with what it was in the cycle before, word by word.
class Waves final : public Watcher {
public:
    Waves(const WaveSink& sink, int64_t groups);

    // The part of some cycles that is in the window: its first cycle, and the one after its last.
    int64_t first_of(int64_t begin, int64_t end) const { return std::min(std::max(begin, sink_.first_cycle), end); }
    int64_t end_of(int64_t begin, int64_t end) const { return std::max(std::min(end, sink_.last_cycle + 1), begin); }

    void look(int64_t group, int64_t cycle) override;

    // Writes what waits; throws where something could not be written.
    void finish();
    void check() const;

private:
    // Bits of a word that are in a variable.
    struct Use {
        uint64_t bits;
        int64_t target;
    };
    // A word that is compared, and its uses up to those of the next one.
    struct Word {
        const char* address;
        uint64_t before;
        size_t first_use;
    };
    struct Group {
        std::vector<Word> words;
        std::vector<Use> uses;
        std::vector<int64_t> targets;
        bool shown = false;
    };

    template <class Sink>
    void write(Sink& sink, const std::vector<int64_t>& changed, int64_t cycle);

    const WaveSink sink_;
    std::vector<Group> groups_;
    std::vector<int64_t> changed_;
    std::vector<char> is_changed_;  // by target, while a group is looked at
    std::optional<VcdSink> vcd_;    // one of the two
    std::optional<FstSink> fst_;
    int64_t shown_ = -1;  // the last cycle of which something was written
};

}  // namespace cyscc
