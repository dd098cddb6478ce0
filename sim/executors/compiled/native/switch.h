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

    // What the kernels have for a memory: shows them their ports in a cycle, given who is told that all is flushed.
    virtual void show(uint32_t flushed) = 0;
    Mailbox& box() { return box_; }

#if VM_TRACE
    // Advances by a cycle, given what is at the kernels' ports, whether or not it is taken, and the memory's.
    virtual void step(Mailbox& ports, const Mailbox& seen, bool flush) = 0;

    // The two halves of a step that is drawn.
    virtual void draw(Mailbox& ports, const Mailbox& seen, bool flush) = 0;
    virtual void clock() = 0;

    // Shows the switch what the memory has shown it last, which is no register, and the kernels what it shows them.
    virtual void recall(const Mailbox& ports) = 0;

    // Lets a model of one of some names draw itself.
    virtual void trace(VerilatedVcdC& file, const Drawn& drawn) = 0;

    // Evaluates what follows from registers, before they are looked at.
    virtual void rest() = 0;
#else
    // Advances by a cycle, given the kernels' requests in that box and the memory's.
    virtual void step(Mailbox& ports) = 0;
#endif

    // A request waits in the switch.
    bool busy() const { return busy_; }
    // Nothing happens in the next cycle unless something arrives.
    bool rests() const { return rests_; }

    // The state by name, and what follows from it.
    virtual void list(Inventory& inventory, const std::string& place) = 0;
    virtual void resume() = 0;

protected:
    Mailbox box_ = {};
    bool busy_ = false;
    bool rests_ = false;
};

// Generated. Whoever calls owns it.
#if VM_TRACE
Switch* make_switch(VerilatedContext* context, const std::string& name);
#else
Switch* make_switch();
#endif

}  // namespace cyscc
