// The machine of the compiled executor: engines that run side by side and synchronize at the memory.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine.h"
#include "interface.h"
#include "team.h"
#include "waves.h"

namespace cyscc {

class CompiledMachine : public Machine {
public:
    explicit CompiledMachine(const Setup& setup)
        : Machine(setup),
          links_(kEngines),
          team_(int(setup.threads), kEngines, setup.round ? int(setup.memory.parts) : 0, do_part, this),
          pace_(setup.threads > 1) {
        for (int n = 0; n < kEngines; ++n) {
            engines_.push_back(std::make_unique<Engine>(n, setup.memory, &link_to(n), &links_[n]));
            drivers_.push_back(&engines_[n]->driver());
        }
    }

    // Where the signals are that waveforms can show.
    Signals& signals() {
        if (signals_.instances().empty())
            for (auto& engine : engines_) engine->list_signals(signals_);
        return signals_;
    }

    // Writes waveforms from now on, or no more; throws where something could not be written.
    void draw(const WaveSink* sink) {
        if (waves_) waves_->finish();
        waves_.reset();
        if (sink) waves_.emplace(*sink, signals().groups());
    }

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
#if CYSCC_ENGINES > 1
    // The earliest arrival of a message that is not sent yet. An instruction is done only after its token came back to AE 0
    // with `done`, which then is idle in the next cycle at the earliest; so nothing is done while the token is elsewhere, or
    // comes back to go round again.
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
        const int64_t returns = link_to(0).tells_done() ? link_to(0).arrival() : kNever;
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
        if (waves_ && waves_->first_of(cycle_, sync_point) < waves_->end_of(cycle_, sync_point)) {
            advance_shown();
        } else {
            pace_.time(sync_point - cycle_, [this](bool together) { team_.run(together); });
        }
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

    // The same with cycles that are shown: in those all engines go cycle by cycle, since a waveform has one time for all.
    void advance_shown() {
        const int64_t first = waves_->first_of(cycle_, sync_point_), end = waves_->end_of(cycle_, sync_point_);
        const MemoryModel& memory = setup_.memory;
        for (int n = 0; n < kEngines; ++n) {
            if (setup_.round) memory.deliver(memory.context, n);
            engines_[n]->run(cycle_, first);
            // What was left out before is done, so that everything is what it is in the first cycle.
            engines_[n]->rest(first);
            engines_[n]->show(&*waves_);
        }
        for (int64_t cycle = first; cycle < end; ++cycle)
            for (auto& engine : engines_) engine->run(cycle, cycle + 1);
        for (auto& engine : engines_) {
            engine->show(nullptr);
            engine->run(end, sync_point_);
        }
        for (int part = 0; setup_.round && part < int(memory.parts); ++part) memory.serve(memory.context, part);
        waves_->check();
    }

    Link& link_to(int engine) { return links_[(engine + kEngines - 1) % kEngines]; }
    const Link& link_to(int engine) const { return links_[(engine + kEngines - 1) % kEngines]; }

    std::vector<Link> links_;
    std::vector<std::unique_ptr<Engine>> engines_;
    int64_t sync_point_ = 0;
    Team team_;
    Pace pace_;
    Signals signals_;
    std::optional<Waves> waves_;
};

Machine* make_machine(const Setup& setup) { return new CompiledMachine(setup); }

}  // namespace cyscc

CYSCC_EXPORT int64_t cyscc_signals(cyscc::Machine* machine, const cyscc::Instance** instances, cyscc::Piece** pieces) {
    return cyscc::guarded([&] {
        cyscc::Signals& signals = static_cast<cyscc::CompiledMachine*>(machine)->signals();
        *instances = signals.instances().data();
        *pieces = signals.inventory().pieces().data();
        return int64_t(signals.instances().size());
    });
}
CYSCC_EXPORT void cyscc_draw(cyscc::Machine* machine, const cyscc::WaveSink* sink) {
    cyscc::guarded([&] { static_cast<cyscc::CompiledMachine*>(machine)->draw(sink); });
}
