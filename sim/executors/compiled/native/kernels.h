// The kernels of a module in one AE as the engine sees them, however they are executed.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "memory.h"
#include "signals.h"
#include "spell_log.h"
#include "state.h"

namespace cyscc {

inline constexpr int64_t kNever = int64_t(1) << 62;

// What a module's kernels get from the shell: chain and token the first one, or token the station of all.
struct Head {
    bool chain_valid = false, token_valid = false;
    uint64_t chain = 0, token = 0;
    uint64_t drained = 0;             // only for kernels that exchange ids
    uint32_t blocks = 0;              // only for kernels with a station: those to which it gives slots,
    const uint64_t* block = nullptr;  // and which, by kernel
};

// What the engine looks at in every cycle is kept here, so that it need not be asked for.
class Kernels {
public:
    virtual ~Kernels() = default;

    // Advances the kernels by a cycle if any has something to do.
    void step(const Head& head, bool owns, Mailbox& box, int64_t cycle) {
        turns_ += head.token_valid;
        const bool arrives = (owns && box.responses | box.flushed) || head.chain_valid || head.token_valid || head.blocks;
        if (arrives || busy_) advance(head, owns, box, cycle);
    }

    // Nothing happens here before a cycle unless something arrives; 0 where something may happen in each.
    int64_t rests_until(int64_t cycle) const { return carries(cycle) ? exit_ : busy_ ? 0 : kNever; }

    // What the last kernel puts out.
    bool chain_valid() const { return chain_valid_; }
    bool token_valid(int64_t cycle) const { return carries(cycle) ? cycle == exit_ : token_valid_; }
    uint64_t chain() const { return chain_; }
    uint64_t token() const { return token_; }

    // The cycle in which the last kernel puts a token out, unless one more enters.
    int64_t token_leaves(int64_t cycle) const {
        if (carries(cycle)) return exit_;
        return tokens_ ? cycle + std::countl_zero(tokens_) : kNever;
    }

    // A bit of each kernel.
    uint32_t done() const { return done_; }
    uint32_t error() const { return error_; }

    // The same of kernels that exchange ids: the run of which they sent the last one; whether ids wait for them.
    uint32_t read_epoch() const { return read_epoch_; }
    uint32_t exchange_busy() const { return exchange_busy_; }

    // The same of kernels with a station: a vertex more needs a slot; slots may come; the run that `done` speaks of.
    uint32_t asked() const { return asked_; }
    uint32_t room() const { return room_; }
    uint32_t epoch() const { return epoch_; }

    // How often the token came to the first kernel, or to the station.
    int64_t turns() const { return turns_; }

    // From now on how full FIFOs are is counted too.
    virtual void record() = 0;
    // Writes what was counted up to a cycle, kernel after kernel, as the part of a row that they have.
    virtual int64_t* write(int64_t cycle, int64_t* row) = 0;
    virtual void begin_interval() = 0;
    virtual void begin_instruction(int64_t cycle) = 0;

    // From a cycle on spells are logged; none goes back beyond it, nor beyond a `resume`.
    virtual void log_spells(int64_t cycle, const SpellLog& log) = 0;
    // Brings the log up to a cycle, if asked with the spells that are under way.
    virtual void write_spells(int64_t cycle, bool open) = 0;

    // The state by name: where it is, what is left out of it up to a cycle, and what follows from it.
    virtual void list(Inventory& inventory, const std::string& place) = 0;
    virtual void list_exchange(Inventory& inventory, const std::string& place) = 0;
    virtual void rest(int64_t cycle) = 0;
    virtual void resume(int64_t cycle) = 0;

    // Lists the signals, where waveforms show them.
    virtual void list_signals(Signals& signals, const std::string& place) = 0;
    virtual void list_exchange_signals(Signals& signals, const std::string& place) = 0;

    // Advances by a cycle that is shown, in which nothing is left out, given the memory ports that the kernels have.
    void show(const Head& head, uint32_t ports, Mailbox& box, int64_t cycle, Watcher& watcher) {
        turns_ += head.token_valid;
        advance_shown(head, ports, box, cycle, watcher);
    }

    // What is at the kernels' memory ports, whether or not it is taken, in a box that has that of others.
    virtual void look(Mailbox& seen) const = 0;

protected:
    virtual void advance(const Head& head, bool owns, Mailbox& box, int64_t cycle) = 0;
    virtual void advance_shown(const Head& head, uint32_t ports, Mailbox& box, int64_t cycle, Watcher& watcher) = 0;

    bool carries(int64_t cycle) const { return cycle <= exit_; }

    int64_t turns_ = 0;
    int64_t exit_ = -1;     // up to this cycle a token is on its way to the last kernel, with none evaluated for it
    bool busy_ = true;      // something may happen in the next cycle
    bool chain_valid_ = false;
    bool token_valid_ = false;
    uint64_t chain_ = 0;
    uint64_t token_ = 0;
    uint32_t tokens_ = 0;   // the kernels that put a token out; the last one is the most significant bit
    uint32_t done_ = 0;
    uint32_t error_ = 0;
    uint32_t read_epoch_ = 0;
    uint32_t exchange_busy_ = 0;
    uint32_t asked_ = 0;
    uint32_t room_ = 0;
    uint32_t epoch_ = 0;
};

// Generated, a source each, since one module's kernels may change while the other's stay. Whoever calls owns them. (The
// header of pointers that own takes half a second to compile, whenever a kernel changes.)
Kernels* make_bfs_kernels();
Kernels* make_intersection_kernels();

}  // namespace cyscc
