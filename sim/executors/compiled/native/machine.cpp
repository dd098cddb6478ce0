// The machine of the compiled executor: engines that run side by side and synchronize at the memory.

#include <memory>
#include <string>
#include <vector>

#include "engine.h"
#include "interface.h"
#include "team.h"

#if VM_TRACE
#include <sstream>

#include "waves.h"
#endif

namespace cyscc {

class CompiledMachine : public Machine {
public:
    explicit CompiledMachine(const Setup& setup)
        : Machine(setup),
          links_(kEngines),
          team_(int(setup.threads), kEngines, setup.round ? int(setup.memory.parts) : 0, do_part, this),
          pace_(setup.threads > 1) {
#if VM_TRACE
        // Otherwise Verilator starts a thread for each further core, none of which a model without threads ever uses.
        context_.threads(1);
        context_.traceEverOn(true);
#endif
        for (int n = 0; n < kEngines; ++n) {
            engines_.push_back(std::make_unique<Engine>(&context_, n, setup.memory, &link_to(n), &links_[n]));
            drivers_.push_back(&engines_[n]->driver());
        }
#if VM_TRACE
        Drawn drawn;
        std::istringstream names(setup.drawn);
        for (std::string name; names >> name;) drawn.insert(name);
        for (auto& engine : engines_) engine->trace(trace_, drawn);
        trace_.open("");
        trace_.flush();
#endif
    }

    void finish() override {
#if VM_TRACE
        trace_.close();
        waves_.finish();
#endif
    }

#if VM_TRACE
    // After the state was set: what the models show besides, given the host's last commands of each kind.
    void recall(const Command* commands, int count) {
        for (auto& engine : engines_) {
            engine->recall();
            for (int n = 0; n < count; ++n) engine->recall(commands[n]);
        }
    }

    WaveText& waves() { return waves_; }
#endif

    void record(int64_t interval, int64_t places, int64_t* rows) override {
        for (auto& engine : engines_) {
            engine->record(cycle_, interval, places, rows);
            rows += places * kRowWords;
        }
    }

    void sample(int64_t* rows) override {
        for (auto& engine : engines_) {
            engine->write(cycle_, rows);
            rows += kRowWords;
        }
    }

    void begin_instruction() override {
        for (auto& engine : engines_) engine->begin_instruction(cycle_);
    }

    void log_spells(SpellLog log) override {
        for (auto& engine : engines_) {
            engine->log_spells(cycle_, log);
            log.spells += log.places;
            ++log.written;
        }
    }

    void write_spells(bool open) override {
        for (auto& engine : engines_) engine->write_spells(cycle_, open);
    }

    void log_accesses(const AccessRequest& request) override {
        for (auto& engine : engines_) engine->log_accesses(request);
    }

    const std::vector<Access>* take_accesses(int64_t engine) override { return &engines_[engine]->take_accesses(); }

    int64_t open_reads() const override {
        int64_t count = 0;
        for (const auto& engine : engines_) count += engine->open_reads();
        return count;
    }

    void rest() override {
        for (auto& engine : engines_) engine->rest(cycle_);
        for (Link& link : links_) link.rest();
    }

    void resume() override {
        for (Link& link : links_) link.resume(cycle_);
        for (auto& engine : engines_) engine->resume(cycle_);
    }

protected:
#if CYSCC_ENGINES > 1 && !VM_TRACE
    // The earliest arrival of a message that is not sent yet. An instruction is done only after its token came back to AE 0,
    // which then is idle in the next cycle at the earliest; so nothing is done while the token is elsewhere.
    Horizon horizon() const override {
        if (cycle_ == begun_) return {cycle_, cycle_};
        bool circulates = false;
        int64_t sends = kNever;
        for (int n = 0; n < kEngines; ++n) {
            const Outlook& outlook = engines_[n]->outlook();
            const int64_t arrival = link_to(n).arrival();
            circulates |= outlook.has_token || arrival != kNever;
            sends = std::min({sends, outlook.sends, arrival + outlook.transit});
        }
        if (!circulates) return {cycle_, cycle_};
        const int64_t returns = link_to(0).arrival();
        return {std::min({sends + kLinkCycles, returns + 1 + setup_.interval, cycle_ + kLinkPlaces - kLinkCycles}), returns};
    }
#endif

    void list(Inventory& inventory) override {
        for (auto& engine : engines_) engine->list(inventory);
        for (int n = 0; n < kEngines; ++n) {
            inventory.enter("link" + std::to_string(n));
            links_[n].list(inventory);
        }
    }

    void advance(int64_t sync_point) override {
        sync_point_ = sync_point;
#if VM_TRACE
        // All engines cycle by cycle, since a waveform has one time for all.
        for (int64_t cycle = cycle_; cycle < sync_point_; ++cycle) {
            if (cycle < setup_.first_wave || cycle > setup_.last_wave) {
                for (auto& engine : engines_) engine->step(cycle);
            } else {
                for (auto& engine : engines_) engine->show(cycle);
                trace_.dump(uint64_t(cycle));
                for (auto& engine : engines_) engine->clock();
            }
            for (auto& engine : engines_) engine->reach(cycle + 1);
        }
        waves_.check();
#else
        pace_.time(sync_point - cycle_, [this](bool together) { team_.run(together); });
#endif
    }

private:
    // Does a part of what is to be done up to the next sync point: runs an engine, or performs a part of the requests of
    // the round before, which none of the engines needs yet.
    static void do_part(void* self, int number) {
        auto& machine = *static_cast<CompiledMachine*>(self);
        const MemoryModel& memory = machine.setup_.memory;
        if (number >= kEngines) return memory.serve(memory.context, number - kEngines);
        if (machine.setup_.round) memory.deliver(memory.context, number);
        machine.engines_[number]->run(machine.cycle_, machine.sync_point_);
    }

    Link& link_to(int engine) { return links_[(engine + kEngines - 1) % kEngines]; }
    const Link& link_to(int engine) const { return links_[(engine + kEngines - 1) % kEngines]; }

    Context context_;
#if VM_TRACE
    WaveText waves_;
    VerilatedVcdC trace_{&waves_};
#endif
    std::vector<Link> links_;
    std::vector<std::unique_ptr<Engine>> engines_;
    int64_t sync_point_ = 0;
    Team team_;
    Pace pace_;
};

Machine* make_machine(const Setup& setup) { return new CompiledMachine(setup); }

}  // namespace cyscc

#if VM_TRACE
// What the models say that they have, once a machine is made; then where it is shown.
CYSCC_EXPORT const char* cyscc_wave_head(cyscc::Machine* machine) {
    return static_cast<cyscc::CompiledMachine*>(machine)->waves().text().c_str();
}
CYSCC_EXPORT void cyscc_recall(cyscc::Machine* machine, const cyscc::Command* commands, int count) {
    cyscc::guarded([&] { static_cast<cyscc::CompiledMachine*>(machine)->recall(commands, count); });
}
CYSCC_EXPORT void cyscc_draw(cyscc::Machine* machine, const cyscc::WaveSink* sink) {
    cyscc::guarded([&] { static_cast<cyscc::CompiledMachine*>(machine)->waves().draw(*sink); });
}
#endif
