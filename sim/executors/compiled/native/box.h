// What an Application Engine and the memory exchange in a cycle, and what a module's first kernel gets from the shell.
#pragma once

#include <cstdint>

#include "config.h"

namespace cyscc {

inline constexpr int64_t kNever = int64_t(1) << 62;

// The mailbox of an engine; see sim/memory/state.py for its words.
class Box {
public:
    explicit Box(int64_t* words) : words_(words) {}

    uint32_t read_ready() const { return uint32_t(words_[kBoxReadReady]); }
    uint32_t write_ready() const { return uint32_t(words_[kBoxWriteReady]); }
    uint32_t responses() const { return uint32_t(words_[kBoxResponses]); }
    uint32_t flushed() const { return uint32_t(words_[kBoxFlushed]); }
    bool has_requests() const { return (words_[kBoxReads] | words_[kBoxWrites] | words_[kBoxFlushes]) != 0; }

    // Hands over requests of the ports of a mask. Their payloads are in the arrays below.
    void hand_over(uint32_t reads, uint32_t writes, uint32_t flushes) {
        words_[kBoxReads] |= reads;
        words_[kBoxWrites] |= writes;
        words_[kBoxFlushes] |= flushes;
    }

    // One word a port.
    uint64_t* tags() { return array(kBoxTags); }
    uint64_t* data() { return array(kBoxData); }
    uint64_t* read_payloads() { return array(kBoxReadPayloads); }
    uint64_t* write_payloads() { return array(kBoxWritePayloads); }
    uint64_t* write_data() { return array(kBoxWriteData); }

private:
    uint64_t* array(int first) { return reinterpret_cast<uint64_t*>(words_ + first); }

    int64_t* words_;
};

// What arrives at a module's first kernel.
struct Head {
    bool chain_valid, token_valid;
    uint64_t chain, token;
};

}  // namespace cyscc
