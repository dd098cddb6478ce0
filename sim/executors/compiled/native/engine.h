// One Application Engine: shell and kernels, wired one to one, with its host and its place at the memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "box.h"
#include "config.h"
#include "models.h"
#if CYSCC_LANES
#include "bfs_lanes.h"
#include "intersection_lanes.h"
#include "lane_module.h"
#else
#include "object_module.h"
#endif

namespace cyscc {

#if CYSCC_LANES
using BfsModule = LaneModule<BfsLanes>;
using IntersectionModule = LaneModule<IntersectionLanes>;
#else
using BfsModule = ObjectModule<Vbfs_kernel, kBfsKernels>;
using IntersectionModule = ObjectModule<Vintersection_kernel, kIntersectionKernels>;
#endif

enum CommandKind : int64_t { kWrite = 0, kDispatch = 1, kRead = 2 };

struct Command {
    int64_t kind;
    int64_t index;
    uint64_t value;
};

// The link from an engine to the next. A token is written for the cycle in which it arrives; engines run ahead of each
// other by less than the link's delay, so sender and receiver never touch the same place at once.
struct Link {
    static constexpr int kPlaces = 2048;
    struct Place {
        int64_t cycle = -1;
        uint64_t payload = 0;
    };
    std::array<Place, kPlaces> places;
    Place& at(int64_t cycle) { return places[cycle & (kPlaces - 1)]; }
};
static_assert(kLinkCycles * 2 <= Link::kPlaces);

class Engine {
public:
    Engine(VerilatedContext* context, int number, const MemoryModel& memory, Link* from, Link* to);

    // Advances by one cycle.
    void step(int64_t cycle);

    // Advances from a cycle to another, by steps where something may happen.
    void run(int64_t cycle, int64_t end);

#if VM_TRACE
    // The two halves of a step that is drawn: between them every model shows the cycle as it is.
    void show(int64_t cycle);
    void clock();
#endif

    void begin(const Command* commands, int count);
    bool finished() const { return position_ >= count_ && (dispatched_ < 0 || idle_since_ > dispatched_); }

    int64_t dispatched() const { return dispatched_; }
    int64_t idle_since() const { return idle_since_; }
    int64_t moved() const { return moved_; }
    const std::vector<uint64_t>& answers() const { return answers_; }
    void activity(int64_t cycle, int64_t* counts);

#if VM_TRACE
    // Calls a function with every model.
    template <class Function>
    void for_each_model(Function function) {
        function(*shell_);
        bfs_.for_each_model(function);
        intersection_.for_each_model(function);
    }
#endif

private:
    int64_t next_event(int64_t cycle, int64_t end) const;
    bool connect_tails(int64_t cycle);
    void step_shell(int64_t cycle, bool wanted);
    void step_host(int64_t cycle);
    bool has_commands() const { return awaiting_ || position_ < count_; }

    const int number_;
    const MemoryModel memory_;
    const Box box_;
    Link* const from_;
    Link* const to_;
    std::unique_ptr<Vshell> shell_;
    BfsModule bfs_;
    IntersectionModule intersection_;

    const Command* commands_ = nullptr;
    int count_ = 0;
    int position_ = 0;
    bool awaiting_ = false;
    std::vector<uint64_t> answers_;
    int64_t clocked_ = -1;  // the cycle in which the shell was evaluated last
    bool resting_ = false;  // nothing happens in the next cycle unless something arrives
    int64_t dispatched_ = -1;
    int64_t idle_since_ = 0;
    int64_t moved_ = 0;
#if VM_TRACE
    bool drawn_ = false;
#endif
};

}  // namespace cyscc
