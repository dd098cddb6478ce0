#include "waves.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace cyscc {

namespace {

constexpr size_t kChunk = 1 << 16;
constexpr size_t kOverhead = 8;
// As much as is compressed in a fraction of a second, so that an interrupted run ends soon.
constexpr size_t kMostWaiting = 48 << 20;
constexpr int kWordBytes = sizeof(uint64_t);

uint64_t load(const char* address, int64_t bytes = kWordBytes) {
    uint64_t word = 0;
    std::memcpy(&word, address, bytes);
    return word;
}

// The digits of all bytes.
constexpr auto kDigits = [] {
    std::array<std::array<char, 8>, 256> digits{};
    for (int byte = 0; byte < 256; ++byte)
        for (int bit = 0; bit < 8; ++bit) digits[byte][7 - bit] = char('0' + (byte >> bit & 1));
    return digits;
}();

// Writes the digits of a number that end at an address.
void put_digits(char* end, uint64_t number, int64_t width) {
    for (; width >= 8; width -= 8, number >>= 8) std::memcpy(end -= 8, kDigits[number & 255].data(), 8);
    std::memcpy(end - width, kDigits[number & 255].data() + 8 - width, width);
}

}  // namespace

void VcdSink::time(int64_t cycle) {
    close();
    put("#", std::to_string(cycle), "\n");
    if (whole_) put("$dumpvars\n");
}

void VcdSink::bits(const WaveTarget& target, std::string_view value) {
    value.size() == 1 ? put(value, target.key, "\n") : put("b", value, " ", target.key, "\n");
}

void VcdSink::text(const WaveTarget& target, const char* value) { put("s", value, " ", target.key, "\n"); }

void VcdSink::finish() {
    close();
    write();
}

template <class... Parts>
void VcdSink::put(const Parts&... parts) {
    (waiting_.append(parts), ...);
    if (waiting_.size() > kChunk) write();
}

// The values of the first cycle are a block of their own.
void VcdSink::close() {
    if (begun_ && whole_) {
        put("$end\n");
        whole_ = false;
    }
    begun_ = true;
}

void VcdSink::write() {
    for (size_t done = 0; done < waiting_.size() && !error_;) {
        const ssize_t written = ::write(descriptor_, waiting_.data() + done, waiting_.size() - done);
        if (written >= 0) done += written;
        else if (errno != EINTR && errno != EAGAIN) error_ = errno;
    }
    waiting_.clear();
}

void FstSink::time(int64_t cycle) {
    if (waiting_ > kMostWaiting) {
        to_.flush(to_.writer);
        waiting_ = 0;
    }
    to_.time(to_.writer, uint64_t(cycle));
}

void FstSink::bits(const WaveTarget& target, std::string_view value) {
    to_.bits(to_.writer, uint32_t(target.number), value.data());
    waiting_ += value.size() + kOverhead;
}

void FstSink::text(const WaveTarget& target, const char* value) {
    const size_t length = std::strlen(value);
    to_.text(to_.writer, uint32_t(target.number), value, uint32_t(length));
    waiting_ += length + kOverhead;
}

Waves::Waves(const WaveSink& sink, int64_t groups)
    : sink_(sink), groups_(groups), is_changed_(sink.count) {
    struct Found {
        const char* address;
        Use use;
    };
    std::vector<std::vector<Found>> found(groups);
    for (int64_t n = 0; n < sink.count; ++n) {
        const WaveTarget& target = sink.targets[n];
        groups_[target.group].targets.push_back(n);
        for (int64_t place = target.first_part; place < target.first_part + target.parts; ++place) {
            const WavePart& part = sink.parts[place];
            const int64_t beyond = int64_t(uintptr_t(part.address) % kWordBytes);
            const uint64_t bits = part.width < 64 ? (uint64_t(1) << part.width) - 1 : ~uint64_t(0);
            found[target.group].push_back({part.address - beyond, {bits << (part.shift + 8 * beyond), n}});
        }
    }
    for (int64_t group = 0; group < groups; ++group) {
        std::ranges::stable_sort(found[group], {}, &Found::address);
        auto& [words, uses, targets, shown] = groups_[group];
        for (const Found& each : found[group]) {
            if (words.empty() || words.back().address != each.address) words.push_back({each.address, 0, uses.size()});
            uses.push_back(each.use);
        }
        words.push_back({nullptr, 0, uses.size()});
    }
    if (sink.descriptor >= 0) vcd_.emplace(int(sink.descriptor));
    else fst_.emplace(sink);
}

void Waves::look(int64_t group, int64_t cycle) {
    auto& [words, uses, targets, shown] = groups_[group];
    if (targets.empty()) return;
    for (size_t n = 0; n + 1 < words.size(); ++n) {
        Word& word = words[n];
        const uint64_t now = load(word.address), changes = now ^ word.before;
        if (!changes) continue;
        word.before = now;
        for (size_t use = word.first_use; use < words[n + 1].first_use; ++use) {
            const int64_t target = uses[use].target;
            if (!(uses[use].bits & changes) || is_changed_[target]) continue;
            is_changed_[target] = true;
            changed_.push_back(target);
        }
    }
    // At first the values of all.
    const auto& written = shown ? changed_ : targets;
    if (vcd_) write(*vcd_, written, cycle);
    else write(*fst_, written, cycle);
    shown = true;
    for (int64_t target : changed_) is_changed_[target] = false;
    changed_.clear();
}

template <class Sink>
void Waves::write(Sink& sink, const std::vector<int64_t>& changed, int64_t cycle) {
    if (changed.empty()) return;
    if (shown_ != cycle) sink.time(cycle);
    shown_ = cycle;
    std::string value;
    for (int64_t n : changed) {
        const WaveTarget& target = sink_.targets[n];
        uint64_t number = 0;
        if (target.names < 0) value.assign(target.width, '0');
        for (int64_t place = target.first_part; place < target.first_part + target.parts; ++place) {
            const WavePart& part = sink_.parts[place];
            const uint64_t bits = load(part.address, part.bytes) >> part.shift;
            if (target.names < 0) put_digits(value.data() + target.width - part.place, bits, part.width);
            else number |= (bits & ((uint64_t(1) << part.width) - 1)) << part.place;
        }
        if (target.names < 0) sink.bits(target, value);
        else sink.text(target, sink_.names[target.names + number]);
    }
}

void Waves::finish() {
    if (vcd_) vcd_->finish();
    check();
}

void Waves::check() const {
    if (vcd_ && vcd_->error())
        throw std::system_error(vcd_->error(), std::generic_category(), "the waveforms cannot be written");
}

}  // namespace cyscc
