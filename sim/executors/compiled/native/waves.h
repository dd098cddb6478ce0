// Waveforms: the text that Verilator's models write, turned into what a file shows while the window runs.
#pragma once

#include <unistd.h>
#include <verilated_vcd_c.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace cyscc {

// A variable of the file: what the models call it, what the file does, and where the texts of its values begin; none if
// its bits are shown.
struct WaveTarget {
    const char* source;
    const char* key;
    int64_t number;
    int64_t names;
};

// The file as Python has begun it: the head is written. A descriptor of a VCD file, or the functions of an FST writer.
struct WaveSink {
    const WaveTarget* targets;
    int64_t count;
    const char* const* names;
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

    void time(uint64_t cycle) {
        close();
        put("#", std::to_string(cycle), "\n");
        if (whole_) put("$dumpvars\n");
    }
    void bits(const WaveTarget& target, std::string_view value) {
        value.size() == 1 ? put(value, target.key, "\n") : put("b", value, " ", target.key, "\n");
    }
    void text(const WaveTarget& target, const char* value) { put("s", value, " ", target.key, "\n"); }

    // Ends what was begun, and writes what waits.
    void finish() {
        close();
        write();
    }
    int error() const { return error_; }

private:
    static constexpr size_t kChunk = 1 << 16;

    template <class... Parts>
    void put(const Parts&... parts) {
        (waiting_.append(parts), ...);
        if (waiting_.size() > kChunk) write();
    }

    // The values of the first cycle are a block of their own.
    void close() {
        if (begun_ && whole_) {
            put("$end\n");
            whole_ = false;
        }
        begun_ = true;
    }

    void write() {
        for (size_t done = 0; done < waiting_.size() && !error_;) {
            const ssize_t written = ::write(descriptor_, waiting_.data() + done, waiting_.size() - done);
            if (written >= 0) done += written;
            else if (errno != EINTR && errno != EAGAIN) error_ = errno;
        }
        waiting_.clear();
    }

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

    void time(uint64_t cycle) {
        if (waiting_ > kMostWaiting) {
            to_.flush(to_.writer);
            waiting_ = 0;
        }
        to_.time(to_.writer, cycle);
    }
    void bits(const WaveTarget& target, std::string_view value) {
        to_.bits(to_.writer, uint32_t(target.number), value.data());
        waiting_ += value.size() + kOverhead;
    }
    void text(const WaveTarget& target, const char* value) {
        const size_t length = std::strlen(value);
        to_.text(to_.writer, uint32_t(target.number), value, uint32_t(length));
        waiting_ += length + kOverhead;
    }

private:
    static constexpr size_t kOverhead = 8;
    // As much as is compressed in a fraction of a second, so that an interrupted run ends soon.
    static constexpr size_t kMostWaiting = 48 << 20;

    const WaveSink to_;
    size_t waiting_ = 0;
};

// What the models write: first the head, in which they say what they have; then, when there is a sink, values.
class WaveText : public VerilatedVcdFile {
public:
    bool open(const std::string&) override { return true; }
    void close() override {}
    ssize_t write(const char* bytes, ssize_t count) override {
        text_.append(bytes, count);
        if (drawing_) convert();
        return count;
    }

    const std::string& text() const { return text_; }

    // Shows from now on what is asked for.
    void draw(const WaveSink& sink) {
        names_ = sink.names;
        targets_.assign(sink.targets, sink.targets + sink.count);
        auto number = [](const WaveTarget& target) { return number_of(target.source); };
        std::ranges::stable_sort(targets_, {}, number);
        first_.assign(targets_.empty() ? 1 : number(targets_.back()) + 2, 0);
        for (const WaveTarget& target : targets_) ++first_[number(target) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        if (sink.descriptor >= 0) vcd_.emplace(int(sink.descriptor));
        else fst_.emplace(sink);
        drawing_ = true;
        text_.clear();
    }

    // Writes what waits; throws where something could not be written.
    void finish() {
        if (vcd_) vcd_->finish();
        check();
    }
    void check() const {
        if (vcd_ && vcd_->error())
            throw std::system_error(vcd_->error(), std::generic_category(), "the waveforms cannot be written");
    }

private:
    // Verilator's names of variables as numbers without gaps: digits with 94 values, the lowest first, none of them 0.
    static size_t number_of(std::string_view name) {
        size_t number = 0;
        for (size_t n = name.size(); n--;) number = number * 94 + size_t(name[n] - '!' + 1);
        return number;
    }

    void convert() {
        const std::string_view text = text_;
        size_t begin = 0;
        for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
            if (end > begin) take(text.substr(begin, end - begin));
        text_.erase(0, begin);
    }

    void take(std::string_view line) {
        switch (line[0]) {
            case '#':
                cycle_ = std::stoull(std::string(line.substr(1)));
                shown_ = false;
                return;
            case '0':
            case '1':
                return show(line.substr(0, 1), line.substr(1));
            case 'b':
                const size_t blank = line.find(' ');
                return show(line.substr(1, blank - 1), line.substr(blank + 1));
        }
    }

    void show(std::string_view value, std::string_view name) {
        const size_t number = number_of(name);
        if (number + 1 >= first_.size()) return;
        for (size_t n = first_[number]; n < first_[number + 1]; ++n) {
            if (vcd_) show(*vcd_, targets_[n], value);
            if (fst_) show(*fst_, targets_[n], value);
        }
    }

    template <class Sink>
    void show(Sink& sink, const WaveTarget& target, std::string_view value) {
        if (!shown_) sink.time(cycle_);
        shown_ = true;
        if (target.names < 0) return sink.bits(target, value);
        size_t number = 0;
        for (char digit : value) number = number * 2 + size_t(digit - '0');
        sink.text(target, names_[target.names + number]);
    }

    std::string text_;
    bool drawing_ = false;
    const char* const* names_ = nullptr;
    std::vector<WaveTarget> targets_;
    std::vector<size_t> first_;   // of the targets by the number of what they show
    std::optional<VcdSink> vcd_;  // at most one of the two
    std::optional<FstSink> fst_;
    uint64_t cycle_ = 0;
    bool shown_ = false;  // something of this cycle
};

}  // namespace cyscc
