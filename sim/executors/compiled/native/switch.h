// The switch of an AE as the engine sees it: memory ports for its kernels, served through those of the memory.
#pragma once

#include <cstdint>
#include <string>

#include "kernels.h"
#include "memory.h"
#include "state.h"

namespace cyscc {

class Switch {
public:
    virtual ~Switch() = default;

    // What the kernels have for a memory: shows them their ports in a cycle, given who is told that all is flushed; if the
    // cycle is shown in waveforms, also what is not valid.
    virtual void show(uint32_t flushed, bool shown) = 0;
    Mailbox& box() { return box_; }

    // Advances by a cycle, given the kernels' requests in that box and the memory's.
    virtual void step(Mailbox& ports) = 0;

    // The same in a cycle that is shown, given what is at the kernels' ports besides, whether or not it is taken.
    virtual void step_shown(Mailbox& ports, const Mailbox& seen, int64_t cycle, Watcher& watcher) = 0;

    // A request waits in the switch.
    bool busy() const { return busy_; }
    // Nothing happens in the next cycle unless something arrives.
    bool rests() const { return rests_; }

    // The state by name, and what follows from it.
    virtual void list(Inventory& inventory, const std::string& place) = 0;
    virtual void resume() = 0;

    // Lists the signals, where waveforms show them.
    virtual void list_signals(Signals& signals, const std::string& place) = 0;

protected:
    Mailbox box_ = {};
    bool busy_ = false;
    bool rests_ = false;
};

// Generated. Whoever calls owns it.
Switch* make_switch();

}  // namespace cyscc
