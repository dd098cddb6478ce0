// What an Application Engine and the memory exchange in a cycle, and what a module's first kernel gets from the shell.
#pragma once

#include <cstdint>

#include "config.h"
#include "memory.h"

namespace cyscc {

inline constexpr int64_t kNever = int64_t(1) << 62;

// The mailbox of an engine.
class Box {
public:
    explicit Box(Mailbox* mailbox) : mailbox_(mailbox) {}

    uint32_t read_ready() const { return uint32_t(mailbox_->read_ready); }
    uint32_t write_ready() const { return uint32_t(mailbox_->write_ready); }
    uint32_t responses() const { return uint32_t(mailbox_->responses); }
    uint32_t flushed() const { return uint32_t(mailbox_->flushed); }
    bool has_requests() const { return (mailbox_->requests[kReads] | mailbox_->requests[kWrites] | mailbox_->requests[kFlushes]) != 0; }

    // Hands over requests of the ports of a mask. Their payloads are in the arrays below.
    void hand_over(uint32_t reads, uint32_t writes, uint32_t flushes) {
        mailbox_->requests[kReads] |= reads;
        mailbox_->requests[kWrites] |= writes;
        mailbox_->requests[kFlushes] |= flushes;
    }

    // One word a port.
    uint64_t* tags() { return mailbox_->tags; }
    uint64_t* data() { return mailbox_->data; }
    uint64_t* read_payloads() { return mailbox_->read_payloads; }
    uint64_t* write_payloads() { return mailbox_->write_payloads; }
    uint64_t* write_data() { return mailbox_->write_data; }

private:
    Mailbox* mailbox_;
};

// What arrives at a module's first kernel.
struct Head {
    bool chain_valid, token_valid;
    uint64_t chain, token;
};

}  // namespace cyscc
