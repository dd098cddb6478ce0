// One Application Engine: shell and kernels, wired one to one, with the driver of its host and memory ports.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "config.h"
#include "kernels.h"
#include "pin_driver.h"
#if VM_TRACE
#include "Vshell.h"
#include "models.h"
#else
// Generated.
#include "shell.h"
#endif

namespace cyscc {

#if VM_TRACE
using Shell = Vshell;
using Context = VerilatedContext;

// Generated beside the model's code: lists its registers, and evaluates what follows from them after they were set.
void list(Shell& model, Inventory& inventory);
void reevaluate(Shell& model);
#else
struct Context {};

inline void list(Shell& shell, Inventory& inventory) { shell.list(inventory); }
inline void reevaluate(Shell& shell) { shell.show(); }
inline void tick(Shell& shell) { shell.tick(); }
#endif

// The link from an engine to the next. A token is written for the cycle in which it arrives; engines run ahead of each
// other by less than the link's delay, so sender and receiver never touch the same place at once.
struct Link {
    struct Place {
        int64_t cycle = -1;
        uint64_t payload = 0;
    };
    std::array<Place, kLinkPlaces> places;
    Place& at(int64_t cycle) { return places[cycle & (kLinkPlaces - 1)]; }

    // Asks for a place that is read soon: by then kernels and memory have driven it out of the caches.
    void prefetch(int64_t cycle) { __builtin_prefetch(&at(cycle + kSoon)); }

    void list(Inventory& inventory) {
        inventory.add("cycle", &places[0].cycle, kLinkPlaces, sizeof(Place));
        inventory.add("payload", &places[0].payload, kLinkPlaces, sizeof(Place));
    }

    // Forgets what arrived before a cycle.
    void rest(int64_t cycle) {
        for (Place& place : places)
            if (place.cycle < cycle) place = {};
    }

private:
    static constexpr int64_t kSoon = 16;
};
static_assert(kLinkCycles * 2 <= kLinkPlaces);

// The words of a row by kernel: causes, three numbers of each FIFO, when its run began and ended. Besides, the cycle and
// the turns of both tokens.
static_assert(kRowWords == 1 + kBfsKernels * (kCauses + 3 * kBfsFifos + 2) +
                               kIntersectionKernels * (kCauses + 3 * kIntersectionFifos + 2) + 2);

class Engine {
public:
    Engine(Context* context, int number, const MemoryModel& memory, Link* from, Link* to);

    // Advances by one cycle.
    void step(int64_t cycle);

    // Advances from a cycle to another, by steps where something may happen; samples at the boundaries on its way.
    void run(int64_t cycle, int64_t end);

    // From a cycle on, samples at every multiple of an interval into the rows, of which multiple n has number n % places.
    void record(int64_t cycle, int64_t interval, int64_t places, int64_t* rows);
    // Samples, if this is the next boundary.
    void reach(int64_t cycle) {
        if (cycle == boundary_) sample(cycle);
    }
    // Writes a row of what was counted up to a cycle.
    void write(int64_t cycle, int64_t* row);
    void begin_instruction(int64_t cycle);

    // From a cycle on, logs the spells of all kernels, see `Kernels`.
    void log_spells(int64_t cycle, SpellLog log);
    void write_spells(int64_t cycle, bool open);

    PinDriver& driver() { return driver_; }

    // The state by name: where it is, what is left out of it up to a cycle, and what follows from it.
    void list(Inventory& inventory);
    void rest(int64_t cycle);
    void resume(int64_t cycle);

#if VM_TRACE
    // Shows the models what they were shown last, after their state was set; the host's commands one by one.
    void recall();
    void recall(const Command& command) { driver_.recall(*shell_, command); }

    // The two halves of a step that is drawn: between them every model shows the cycle as it is.
    void show(int64_t cycle);
    void clock();

    // Lets models of some names draw themselves.
    void trace(VerilatedVcdC& file, const Drawn& drawn);
#endif

private:
    void advance(int64_t cycle, int64_t end);
    Head bfs_head() const;
    Head intersection_head() const;
    void sample(int64_t cycle);
    int64_t next_event(int64_t cycle, int64_t end) const;
    bool connect_tails(int64_t cycle);
    void step_shell(int64_t cycle, bool wanted);

    const int number_;
    const MemoryModel memory_;
    PinDriver driver_;
    Link* const from_;
    Link* const to_;
    std::unique_ptr<Shell> shell_;
    const std::unique_ptr<Kernels> bfs_;
    const std::unique_ptr<Kernels> intersection_;

    int64_t clocked_ = -1;  // the cycle in which the shell was evaluated last
    int64_t boundary_ = kNever;  // where the next row is written
    int64_t interval_ = 0;       // cycles between two rows; 0: none is written
    int64_t places_ = 0;
    int64_t* rows_ = nullptr;
    bool resting_ = false;  // nothing happens in the next cycle unless something arrives
#if VM_TRACE
    bool drawn_ = false;
#endif
};

}  // namespace cyscc
