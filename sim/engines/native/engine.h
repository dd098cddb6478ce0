// One Application Engine: its models, wired one to one, with its host and its place at the memory.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "config.h"
#include "models.h"

namespace cyscc {

enum CommandKind : int64_t { kWrite = 0, kDispatch = 1, kRead = 2 };

struct Command {
    int64_t kind;
    int64_t index;
    uint64_t value;
};

// The memory model: compiled functions and their context.
struct MemoryModel {
    void (*prepare)(int64_t*, int64_t, int64_t);
    void (*accept)(int64_t*, int64_t, int64_t);
    int64_t (*settle)(int64_t*, int64_t);
    int64_t* context;
    int64_t* mailbox;
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

// The kernels of a module in one engine.
template <class Model, int kCount>
struct Module {
    std::array<std::unique_ptr<Model>, kCount> kernels;
    uint32_t awake = 0;       // may change state by themselves
    uint32_t chain_full = 0;  // chain_out is valid
    uint32_t token_full = 0;  // token_out is valid
    uint32_t read_full = 0;   // a read waits at the port
    uint32_t write_full = 0;  // a write waits at the port
    uint32_t done = 0;
    uint32_t error = 0;
    std::array<int64_t, kCount> counted{};  // cycle up to which the activity is counted
    std::array<std::array<int64_t, kActivities>, kCount> activity{};

    void count(int kernel, int64_t cycle) {
        activity[kernel][kernels[kernel]->activity] += cycle - counted[kernel];
        counted[kernel] = cycle;
    }

    // Notes what a kernel put out with the clock edge that it has just seen.
    void observe(int kernel) {
        const Model& model = *kernels[kernel];
        const uint32_t bit = 1u << kernel;
        auto put = [bit](uint32_t& mask, bool value) { mask = value ? mask | bit : mask & ~bit; };
        put(awake, !model.quiescent);
        put(chain_full, model.chain_out_valid);
        put(token_full, model.token_out_valid);
        put(read_full, model.port_read_valid);
        put(write_full, model.port_write_valid);
        put(done, model.done);
        put(error, model.error);
    }
};

class Engine {
public:
    Engine(VerilatedContext* context, int number, const MemoryModel& memory, Link* from, Link* to);

    // Advances by one cycle.
    void step(int64_t cycle);

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

    // Calls a function with every model and its place in the hierarchy.
    template <class Function>
    void for_each_model(Function function) {
        function(*shell_);
        for (auto& kernel : bfs_.kernels) function(*kernel);
        for (auto& kernel : intersection_.kernels) function(*kernel);
    }

private:
    struct Arrivals {
        uint32_t read_ready, write_ready, responses, flushed;
    };
    struct Head {
        bool chain_valid, token_valid;
        uint64_t chain, token;
    };

    template <class Model, int kCount>
    void step_module(Module<Model, kCount>& module, const Head& head, bool owns, const Arrivals& arrivals, int64_t cycle);
    template <class Model>
    void collect(Model& model, int port, const Arrivals& arrivals);
    void step_shell(int64_t cycle);
    void step_host(int64_t cycle);

    const int number_;
    const MemoryModel memory_;
    int64_t* const box_;
    Link* const from_;
    Link* const to_;
    std::unique_ptr<Vshell> shell_;
    Module<Vbfs_kernel, kBfsKernels> bfs_;
    Module<Vintersection_kernel, kIntersectionKernels> intersection_;

    const Command* commands_ = nullptr;
    int count_ = 0;
    int position_ = 0;
    bool awaiting_ = false;
    std::vector<uint64_t> answers_;
    int64_t dispatched_ = -1;
    int64_t idle_since_ = 0;
    int64_t moved_ = 0;
#if VM_TRACE
    bool drawn_ = false;
#endif
};

}  // namespace cyscc
