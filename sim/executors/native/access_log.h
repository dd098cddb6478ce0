// Accesses of kernels to the memory, as seen at the kernels' own ports, and the log of those of an engine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "memory.h"
#include "numbers.h"

namespace cyscc {

// A read with its answer, a write as its port took it, or that a kernel drops the first vertex of an instruction. Reads of
// a kernel with one tag are numbered in each instruction.
struct Access {
    int64_t cycle, answered;
    uint64_t data;
    int64_t address, number;
    int16_t engine;
    uint8_t module, kernel, tag, kind, size, unused = 0;
};

// Accesses that are logged: of the kinds of a mask, to addresses before an end, with data that is, masked, within limits.
struct WatchedAccesses {
    int64_t kinds, start, end;
    uint64_t mask, low, high;
};

// What is logged: the accesses that ports take from a cycle until before another one. Some answers to reads of each
// engine's kernels, that many of each, are to reads from before.
struct AccessRequest {
    int64_t first, end, count;
    const WatchedAccesses* watched;
    int64_t kernels;
    const int64_t* under_way;
};

class AccessLog {
public:
    bool wanted() const { return wanted_; }

    void want(int engine, const AccessRequest& request) {
        wanted_ = request.watched;
        engine_ = engine;
        first_ = request.first;
        end_ = request.end;
        watch(std::vector(request.watched, request.watched + request.count));
        kernels_.assign(request.kernels, Kernel());
        for (int64_t n = 0; n < request.kernels; ++n)
            kernels_[n].strangers = request.under_way[engine * request.kernels + n];
        dropped_ = 0;
        rows_.clear();
    }

    // Notes what passes the ports of a module's kernels in a cycle, and which of them have dropped a vertex.
    void note(const Mailbox& box, uint8_t module, uint32_t dropped, int64_t dispatched, int64_t cycle) {
        if (dispatched != dispatched_) {
            dispatched_ = dispatched;
            for (Kernel& kernel : kernels_)
                for (int64_t& number : kernel.numbers) number = 0;
        }
        for (uint64_t left = box.responses; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            Kernel& kernel = kernels_[n];
            if (kernel.strangers) {
                --kernel.strangers;
                continue;
            }
            Access read = kernel.reads[kernel.place(kernel.answered++)];
            read.answered = cycle;
            read.data = box.data[n];
            keep(read);
        }
        for (uint64_t left = box.requests[kReads]; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            Access read = access(box.read_payloads[n], kReads, module, n, cycle);
            read.number = kernels_[n].numbers[read.tag]++;
            kernels_[n].take(read);
        }
        for (uint64_t left = box.requests[kWrites]; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            Access write = access(box.write_payloads[n], kWrites, module, n, cycle);
            write.data = write.size == 4 ? uint32_t(box.write_data[n]) : box.write_data[n];
            keep(write);
        }
        for (uint32_t left = dropped & ~dropped_; left; left &= left - 1)
            keep(access(0, kDropped, module, std::countr_zero(left), cycle));
        dropped_ = dropped;
    }

    // The rows since the last call, there until the next one.
    const std::vector<Access>& take() {
        taken_.clear();
        std::swap(rows_, taken_);
        return taken_;
    }

    // The reads taken in the cycles that are asked for, and not answered yet.
    int64_t open() const {
        int64_t count = 0;
        for (const Kernel& kernel : kernels_)
            for (size_t n = kernel.answered; n != kernel.taken; ++n) count += inside(kernel.reads[kernel.place(n)]);
        return count;
    }

private:
    static constexpr int kDropped = kFlushes;  // a kind of its own, since flushes access nothing

    struct Kernel {
        int64_t strangers = 0;  // answers yet to come to reads that are not known
        int64_t numbers[1 << kKernelTagBits] = {};
        std::vector<Access> reads = std::vector<Access>(16);  // a power of two of places
        size_t taken = 0, answered = 0;

        size_t place(size_t n) const { return n & (reads.size() - 1); }

        void take(const Access& read) {
            if (taken - answered == reads.size()) {
                std::vector<Access> more(2 * reads.size());
                for (size_t n = answered; n != taken; ++n) more[n & (more.size() - 1)] = reads[place(n)];
                reads = std::move(more);
            }
            reads[place(taken++)] = read;
        }
    };

    Access access(uint64_t payload, int kind, uint8_t module, int kernel, int64_t cycle) const {
        const uint64_t above = payload >> kAddressBits;
        const uint8_t tag = kind == kReads ? above >> 1 & ((1 << kKernelTagBits) - 1) : 0;
        return {cycle, cycle, 0, int64_t(payload & ((uint64_t(1) << kAddressBits) - 1)), 0, int16_t(engine_), module,
                uint8_t(kernel), tag, uint8_t(kind), uint8_t(4 << (above & 1))};
    }

    bool inside(const Access& access) const { return access.cycle >= first_ && access.cycle < end_; }

    // Notes what there is for each part of the memory, since most accesses are to others.
    void watch(std::vector<WatchedAccesses> watched) {
        if (watched.size() > 64) throw std::logic_error("a log of accesses watches at most 64 kinds");
        watched_ = std::move(watched);
        int64_t last = 0;
        for (const WatchedAccesses& each : watched_) last = std::max(last, each.start);
        shift_ = std::max(0, int(std::bit_width(uint64_t(last))) - int(std::bit_width(uint64_t(kNear - 1))) + 1);
        near_.assign(kNear, 0);
        for (size_t n = 0; n < watched_.size(); ++n)
            for (int64_t part = watched_[n].start >> shift_; part < kNear && part << shift_ < watched_[n].end; ++part)
                near_[part] |= uint64_t(1) << n;
    }

    void keep(const Access& access) {
        if (!inside(access)) return;
        for (uint64_t left = near_[std::min(access.address >> shift_, kNear - 1)]; left; left &= left - 1) {
            const WatchedAccesses& each = watched_[std::countr_zero(left)];
            const uint64_t value = access.data & each.mask;
            if (each.kinds >> access.kind & 1 && access.address >= each.start && access.address < each.end &&
                value >= each.low && value <= each.high)
                return rows_.push_back(access);
        }
    }

    bool wanted_ = false;
    int engine_ = 0;
    int64_t first_ = 0, end_ = 0;
    int64_t dispatched_ = -1;
    uint32_t dropped_ = 0;
    std::vector<WatchedAccesses> watched_;
    static constexpr int64_t kNear = 1024;
    int shift_ = 0;
    std::vector<uint64_t> near_;  // a bit of each that is watched there; the last is of all memory behind, too
    std::vector<Kernel> kernels_;
    std::vector<Access> rows_, taken_;
};

}  // namespace cyscc
