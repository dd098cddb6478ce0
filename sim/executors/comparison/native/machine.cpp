// The whole machine as one model, to which memory and host are played.

#include <array>
#include <memory>

#include CYSCC_MODEL

// Generated: the ports.
#include "connections.h"

#include "interface.h"

namespace cyscc {

class WholeModel : public Machine {
public:
    explicit WholeModel(const Setup& setup) : Machine(setup) {
        connect(model_.top, pins_);
        engines_.reserve(kEngines);
        for (int n = 0; n < kEngines; ++n) players_.push_back(&engines_.emplace_back(setup.memory, n));
    }

protected:
    void advance(int64_t meeting) override {
        for (int64_t cycle = cycle_; cycle < meeting; ++cycle) {
            for (int n = 0; n < kEngines; ++n) play(pins_[n], engines_[n], cycle);
            model_.tick();
        }
    }

private:
    static void play(EnginePins& pins, Player& player, int64_t cycle) {
        player.prepare(cycle);
        for (int n = 0; n < kPorts; ++n) play_port(pins.ports[n], player.box(), n, ~0u);
        player.accept(cycle);
        player.play_host(pins, cycle);
    }

    Model model_;
    std::array<EnginePins, kEngines> pins_;
    std::vector<Player> engines_;
};

Machine* make_machine(const Setup& setup) { return new WholeModel(setup); }

}  // namespace cyscc
