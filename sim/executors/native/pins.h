// Access to the pins of a model: to small numbers, and to arrays of 32-bit words for what is wider.
#pragma once

#include <concepts>
#include <cstdint>

namespace cyscc {

template <std::integral Value>
uint64_t get(Value pin, [[maybe_unused]] int part = 0) {
    return pin;
}

template <std::integral Value>
void set(Value& pin, uint64_t low, [[maybe_unused]] uint64_t high = 0) {
    pin = Value(low);
}

template <class Words>
concept Wide = !std::integral<Words> && requires(Words& words) { uint32_t(words[0]); };

// Bits 64 * part up to 64 * part + 63.
template <Wide Words>
uint64_t get(const Words& pin, int part = 0) {
    constexpr int kWords = sizeof(Words) / sizeof(uint32_t);
    const int word = 2 * part;
    return pin[word] | (word + 1 < kWords ? uint64_t(pin[word + 1]) << 32 : 0);
}

template <Wide Words>
void set(Words& pin, uint64_t low, uint64_t high = 0) {
    constexpr int kWords = sizeof(Words) / sizeof(uint32_t);
    for (int word = 0; word < kWords; ++word) pin[word] = uint32_t((word < 2 ? low : high) >> (word % 2 * 32));
}

// A pin that is found by name once, and then only followed.
template <class Value>
class BoundPin {
public:
    void bind(Value& value) { value_ = &value; }

    friend uint64_t get(const BoundPin& pin, int part = 0) { return cyscc::get(*pin.value_, part); }
    friend void set(BoundPin& pin, uint64_t low, uint64_t high = 0) { cyscc::set(*pin.value_, low, high); }

private:
    Value* value_ = nullptr;
};

}  // namespace cyscc
