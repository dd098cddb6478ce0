// The whole machine as one Verilated model with an input that chooses a mutant, to which memory and host are played.

#include <array>
#include <type_traits>
#include <vector>

#include "Vaccelerator.h"
#include "pins.h"

namespace cyscc {

using Top = Vaccelerator;

// A port of a number of bits, in the smallest type that holds them.
template <int kBits>
using Pin = BoundPin<std::conditional_t<
    kBits <= 8, CData,
    std::conditional_t<kBits <= 16, SData,
                       std::conditional_t<kBits <= 32, IData,
                                          std::conditional_t<kBits <= 64, QData, VlWide<(kBits + 31) / 32>>>>>>;

}  // namespace cyscc

// Generated: the ports.
#include "connections.h"

#include "interface.h"

namespace cyscc {

class MutantMachine : public Machine {
public:
    explicit MutantMachine(const Setup& setup) : Machine(setup), top_(&context_, "accelerator") {
        connect(top_, pins_);
        engines_.reserve(kEngines);
        for (int n = 0; n < kEngines; ++n) drivers_.push_back(&engines_.emplace_back(setup.memory, n));
    }

    // A mutant is there from the first cycle on.
    void select(int mutant) {
        top_.mutsel = mutant;
        top_.clk = 0;
        top_.eval();
    }

    const uint64_t* traces() const { return traces_.data(); }

    void causes(int64_t* counts) const {
        for (const auto& engine : causes_)
            for (const auto& kernel : engine)
                for (int kind = 0; kind < kCauses; ++kind) *counts++ = kernel[kind];
    }

protected:
    void advance(int64_t sync_point) override {
        for (int64_t cycle = cycle_; cycle < sync_point; ++cycle) {
            for (int n = 0; n < kEngines; ++n) {
                for (int kernel = 0; kernel < kKernels; ++kernel) ++causes_[n][kernel][cause_of(pins_[n], kernel)];
                traces_[n] = traces_[n] * kFactor + (shown(pins_[n]) | uint64_t(top_.idle) << 32);
                drive(pins_[n], engines_[n], cycle);
            }
            tick();
        }
    }

private:
    // As in `tests/system/pinned.py`.
    static constexpr uint64_t kFactor = 6364136223846793005u;
    static constexpr int kKernels = kBfsKernels + kIntersectionKernels;

    // Who is quiescent is no pin; the rest is looked at where the host has it.
    static uint64_t shown(const EnginePins& pins) {
        constexpr int kQuiet = 1 + kKernels;
        const uint64_t ready = get(pins.write_ready) | get(pins.read_ready) << 1 | get(pins.instruction_ready) << 2;
        return (get(pins.seen) & ((1u << kQuiet) - 1)) | (get(pins.exception) | ready << 1) << kQuiet;
    }

    static void drive(EnginePins& pins, PinDriver& driver, int64_t cycle) {
        driver.prepare(cycle);
        for (int n = 0; n < kPorts; ++n) drive_port(pins.ports[n], driver.box(), n, ~0u);
        driver.accept(cycle);
        driver.drive_host(pins, cycle);
    }

    void tick() {
        top_.clk = 0;
        top_.eval();
        top_.clk = 1;
        top_.eval();
    }

    std::array<uint64_t, kEngines> traces_{};
    VerilatedContext context_;
    Top top_;
    std::array<EnginePins, kEngines> pins_;
    std::vector<PinDriver> engines_;
    // A fault may make a cause that there is not.
    std::array<std::array<std::array<int64_t, 16>, kKernels>, kEngines> causes_{};
};

Machine* make_machine(const Setup& setup) { return new MutantMachine(setup); }

}  // namespace cyscc

CYSCC_EXPORT void cyscc_select(cyscc::Machine* machine, int mutant) {
    static_cast<cyscc::MutantMachine*>(machine)->select(mutant);
}
CYSCC_EXPORT const uint64_t* cyscc_traces(const cyscc::Machine* machine) {
    return static_cast<const cyscc::MutantMachine*>(machine)->traces();
}
CYSCC_EXPORT void cyscc_causes(const cyscc::Machine* machine, int64_t* counts) {
    static_cast<const cyscc::MutantMachine*>(machine)->causes(counts);
}
