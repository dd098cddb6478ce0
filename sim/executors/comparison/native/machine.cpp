// The whole machine as one model, driven by host and memory.

#include <array>
#include <memory>

#include "verilator_model.h"

// Generated: the ports.
#include "connections.h"

#include "interface.h"

namespace cyscc {

class WholeModel : public Machine {
public:
    explicit WholeModel(const Setup& setup) : Machine(setup) {
        connect(model_.top, pins_);
        engines_.reserve(kEngines);
        for (int n = 0; n < kEngines; ++n) drivers_.push_back(&engines_.emplace_back(setup.memory, n));
    }

protected:
    void advance(int64_t sync_point) override {
        for (int64_t cycle = cycle_; cycle < sync_point; ++cycle) {
            for (int n = 0; n < kEngines; ++n) drive(pins_[n], engines_[n], cycle);
            model_.tick();
        }
    }

private:
    static void drive(EnginePins& pins, PinDriver& driver, int64_t cycle) {
        driver.prepare(cycle);
        for (int n = 0; n < kPorts; ++n) drive_port(pins.ports[n], driver.box(), n, ~0u);
        driver.accept(cycle);
        driver.drive_host(pins, cycle);
    }

    Model model_;
    std::array<EnginePins, kEngines> pins_;
    std::vector<PinDriver> engines_;
};

Machine* make_machine(const Setup& setup) { return new WholeModel(setup); }

}  // namespace cyscc
