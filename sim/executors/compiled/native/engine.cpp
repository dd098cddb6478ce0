#include "engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cyscc {

namespace {

std::string place_of(int number) { return "engine" + std::to_string(number); }

}  // namespace

Engine::Engine(int number, const MemoryModel& memory, Link* from, Link* to)
    : number_(number),
      memory_(memory),
      driver_(memory, number),
      from_(from),
      to_(to),
      shell_(std::make_unique<Shell>()),
      bfs_(make_bfs_kernels()),
      intersection_(make_intersection_kernels())
#if CYSCC_SWITCH
      ,
      switch_(make_switch())
#endif
{
    shell_->engine = number;
}

void Engine::list(Inventory& inventory) {
    const std::string place = place_of(number_);
    inventory.enter(place + ".shell");
    shell_->list(inventory);
    bfs_->list(inventory, place + ".bfs");
    intersection_->list(inventory, place + ".intersection");
    bfs_->list_exchange(inventory, place + ".exchange");
#if CYSCC_SWITCH
    switch_->list(inventory, place + ".switch");
#endif
}

void Engine::list_signals(Signals& signals) {
    const std::string place = place_of(number_);
    bfs_->list_signals(signals, place + ".bfs");
    intersection_->list_signals(signals, place + ".intersection");
    shell_group_ = signals.add(shell_->lane, place + ".shell", false);
    bfs_->list_exchange_signals(signals, place + ".exchange");
#if CYSCC_SWITCH
    switch_->list_signals(signals, place + ".switch");
#endif
}

void Engine::rest(int64_t cycle) {
    bfs_->rest(cycle);
    intersection_->rest(cycle);
    resting_ = false;
    Shell& shell = *shell_;
    if (clocked_ < cycle - 1) {
        shell.write_valid = shell.instruction_valid = shell.read_valid = 0;
        shell.bfs_chain_in_valid = 0;
#if CYSCC_STATION
        shell.bfs_asked = 0;
#else
        shell.bfs_token_in_valid = 0;
#endif
        shell.intersection_chain_in_valid = shell.intersection_token_in_valid = 0;
#if CYSCC_ENGINES > 1
        shell.link_in_valid = 0;
#endif
#if CYSCC_SWITCH
        shell.asks = shell.answers = 0;
#endif
        shell.elapsed = uint64_t(cycle - 1 - clocked_);
#if CYSCC_STATION
        const auto station = shell.slot_station();  // was clocked in all of them
        shell.tick();
        shell.slot_station() = station;
#else
        shell.tick();
#endif
    }
    shell.resume();
    clocked_ = cycle - 1;
}

void Engine::record(int64_t cycle, int64_t interval, int64_t places, int64_t* rows) {
    bfs_->record();
    intersection_->record();
    interval_ = interval;
    places_ = places;
    rows_ = rows;
    boundary_ = (cycle / interval + 1) * interval;
}

void Engine::write(int64_t cycle, int64_t* row) {
    *row++ = cycle;
    row = intersection_->write(cycle, bfs_->write(cycle, row));
    *row++ = bfs_->turns();
    *row++ = intersection_->turns();
}

void Engine::begin_instruction(int64_t cycle) {
    bfs_->begin_instruction(cycle);
    intersection_->begin_instruction(cycle);
}

void Engine::log_spells(int64_t cycle, SpellLog log) {
    log.engine = number_;
    bfs_->log_spells(cycle, log);
    log.first = kBfsKernels;
    if (log.limits) log.limits += kBfsFifos;
    intersection_->log_spells(cycle, log);
}

void Engine::write_spells(int64_t cycle, bool open) {
    bfs_->write_spells(cycle, open);
    intersection_->write_spells(cycle, open);
}

// Everything up to this boundary has happened here, and nothing after it.
void Engine::sample(int64_t cycle) {
    write(cycle, rows_ + cycle / interval_ % places_ * kRowWords);
    bfs_->begin_interval();
    intersection_->begin_interval();
    boundary_ += interval_;
}

void Engine::resume(int64_t cycle) {
    if (interval_) boundary_ = (cycle / interval_ + 1) * interval_;
    bfs_->resume(cycle);
    intersection_->resume(cycle);
    resting_ = false;
#if CYSCC_SWITCH
    switch_->resume();
#endif
    shell_->resume();
    clocked_ = cycle - 1;
    outlook_ = look_ahead(cycle);
}

// Evaluates the shell if it is wanted, does something by itself, or gets something from host or link. In a search the
// kernels want a slot in nearly every cycle, which only the station sees.
inline void Engine::step_shell(int64_t cycle, bool wanted) {
    Shell& shell = *shell_;
    wanted |= !shell.quiescent || driver_.has_commands();
#if CYSCC_ENGINES > 1
    shell.link_in_valid = from_->arrival() == cycle;
    wanted |= shell.link_in_valid;
    if (shell.link_in_valid) shell.link_in_payload = from_->receive();
    if (shell.link_out_valid) send(cycle);
#endif
    if (!wanted) {
#if CYSCC_STATION
        shell.slot_station().tick(uint32_t(shell.bfs_asked), uint32_t(shell.bfs_room));
#endif
        return;
    }
    driver_.drive_host(shell, cycle);
    shell.elapsed = uint64_t(cycle - clocked_);
    clocked_ = cycle;
    if (watcher_) {
        shell.take();
        cyscc::show(shell.lane, *watcher_, shell_group_, cycle);
    }
    shell.tick();
}

#if CYSCC_ENGINES > 1
void Engine::send(int64_t cycle) {
    if (cycle + kLinkCycles < sync_point_)
        throw std::logic_error("AE " + std::to_string(number_) + " sends in cycle " + std::to_string(cycle) +
                               " what arrives before the sync point " + std::to_string(sync_point_));
    to_->send(cycle, shell_->link_out_payload);
}
#endif

// Shows an input of the shell a value; returns whether that is new.
template <class Input>
bool renew(Input& input, uint32_t value) {
    const bool changed = input != value;
    input = value;
    return changed;
}

// Brings what the kernels put out to the shell; returns whether that is anything new for more than the slot station.
inline bool Engine::connect_tails(int64_t cycle) {
    Shell& shell = *shell_;
    auto connect = [this](const Kernels& module, auto& chain_valid, auto& chain, auto& done, auto& error) {
        chain_valid = module.chain_valid();
        if (chain_valid || watcher_) chain = module.chain();
        return chain_valid | renew(done, module.done()) | renew(error, module.error());
    };
#if CYSCC_STATION
    shell.bfs_asked = bfs_->asked();
    shell.bfs_room = bfs_->room();
    shell.bfs_epoch = bfs_->epoch();
#endif
    auto pass = [this, cycle](const Kernels& module, auto& token_valid, auto& token) {
        token_valid = module.token_valid(cycle);
        if (token_valid || watcher_) token = module.token();
        return token_valid;
    };
    return connect(*bfs_, shell.bfs_chain_in_valid, shell.bfs_chain_in_payload, shell.bfs_done, shell.bfs_error) |
           connect(*intersection_, shell.intersection_chain_in_valid, shell.intersection_chain_in_payload,
                   shell.intersection_done, shell.intersection_error) |
#if !CYSCC_STATION
           pass(*bfs_, shell.bfs_token_in_valid, shell.bfs_token_in_payload) |
#endif
           pass(*intersection_, shell.intersection_token_in_valid, shell.intersection_token_in_payload);
}

// The first cycle before an end in which something happens to a resting engine, or the end.
int64_t Engine::next_event(int64_t cycle, int64_t end) const {
    end = std::min({end, bfs_->rests_until(cycle), intersection_->rests_until(cycle)});
    if (end > cycle) end = std::min(end, memory_.next_event(memory_.context, number_, cycle));
    if (kEngines > 1) end = std::min(end, from_->arrival());
    return std::max(cycle, end);
}

void Engine::run(int64_t cycle, int64_t end) {
    sync_point_ = end;
    if (driver_.has_commands()) resting_ = false;
    while (boundary_ <= end) {
        const int64_t boundary = boundary_;
        advance(cycle, boundary);
        sample(cycle = boundary);
    }
    advance(cycle, end);
    outlook_ = look_ahead(end);
}

// A token goes from the link through `kRingStages` to the first kernel of the module that owns the ports, on by a kernel a
// cycle (or through the station of all BFS kernels), and from the last kernel through `kLinkLatency` to the link. Only a shell that is not quiescent, or has commands,
// makes one, or has one where it is not seen; it shows a new one to the first kernel in the next cycle at the earliest.
Outlook Engine::look_ahead(int64_t cycle) const {
    Outlook outlook{kNever, 0, false};
#if CYSCC_ENGINES > 1
    const Shell& shell = *shell_;
    const int64_t passage = (shell.intersection_owns ? kIntersectionKernels : kBfsPassage) + kLinkLatency;
    outlook.transit = kRingStages + passage;
    if (!shell.quiescent || driver_.has_commands()) outlook.sends = cycle + 1 + passage;
    auto expect = [&outlook](int64_t sends) {
        outlook.sends = std::min(outlook.sends, sends);
        outlook.has_token = true;
    };
#if CYSCC_STATION
    if (shell.bfs_arrival) expect(cycle + kBfsPassage + kLinkLatency);
    if (shell.bfs_departure) expect(cycle + kLinkLatency);
#else
    if (shell.bfs_token_out_valid) expect(cycle + kBfsPassage + kLinkLatency);
#endif
    if (shell.intersection_token_out_valid) expect(cycle + kIntersectionKernels + kLinkLatency);
    for (const Kernels* module : {bfs_.get(), intersection_.get()}) {
        const int64_t leaves = module->token_leaves(cycle);
        if (leaves != kNever) expect(leaves + kLinkLatency);
    }
    if (shell.link_out_valid) expect(cycle);
#endif
    return outlook;
}

void Engine::advance(int64_t cycle, int64_t end) {
    while (cycle < end) {
        if (resting_ && !watcher_ && (cycle = next_event(cycle, end)) == end) return;
        step(cycle++);
    }
}

inline Head Engine::bfs_head() const {
    Head head{.chain_valid = bool(shell_->bfs_chain_out_valid), .chain = shell_->bfs_chain_out_payload};
#if CYSCC_STATION
    head.token_valid = shell_->bfs_arrival;
    head.blocks = shell_->slot_station().blocks;
    head.block = shell_->slot_station().block;
#else
    head.token_valid = shell_->bfs_token_out_valid;
    head.token = shell_->bfs_token_out_payload;
#endif
#if CYSCC_EXCHANGE
    head.drained = shell_->drained;
#endif
    return head;
}

inline Head Engine::intersection_head() const {
    return {.chain_valid = bool(shell_->intersection_chain_out_valid),
            .token_valid = bool(shell_->intersection_token_out_valid),
            .chain = shell_->intersection_chain_out_payload,
            .token = shell_->intersection_token_out_payload};
}

// What the kernels take for their memory ports: the memory's, or those of the switch between.
inline Mailbox& Engine::kernels_box() {
#if CYSCC_SWITCH
    return switch_->box();
#else
    return driver_.box();
#endif
}

inline bool Engine::switch_rests() const {
#if CYSCC_SWITCH
    return switch_->rests();
#else
    return true;
#endif
}

// Whether the slot station rests, and knows what the kernels say.
inline bool Engine::station_rests() const {
#if CYSCC_STATION
    const Shell& shell = *shell_;
    return shell.slot_station().quiescent && bfs_->room() == shell.bfs_room && bfs_->epoch() == shell.bfs_epoch;
#else
    return true;
#endif
}

// Out of line, since nearly no run wants them.
__attribute__((noinline)) void Engine::note_accesses(const Mailbox& box, int64_t cycle) {
    accesses_.note(box, shell_->intersection_owns, bfs_->error(), driver_.dispatched(), cycle);
}

// A port's data stay until others come. What the memory leaves in their place is anything, which only waveforms show.
void Engine::keep_data() {
    Mailbox& box = driver_.box();
    for (int n = 0; n < kPorts; ++n) {
        const bool comes = box.responses >> n & 1;
        (comes ? data_ : box.data)[n] = (comes ? box.data : data_)[n];
        (comes ? tags_ : box.tags)[n] = (comes ? box.tags : tags_)[n];
    }
}

void Engine::step(int64_t cycle) {
    driver_.prepare(cycle);
    if constexpr (kIsSeen<decltype(shell_->lane)>) keep_data();
    Shell& shell = *shell_;
    bool wanted = connect_tails(cycle);
#if CYSCC_EXCHANGE
    // The shell asks only whether any is busy. Which ones are changes in nearly every cycle of a search.
    const bool was_busy = shell.exchange_busy != 0;
    shell.exchange_busy = bfs_->exchange_busy();
    wanted |= renew(shell.read_epoch, bfs_->read_epoch()) | (was_busy != (shell.exchange_busy != 0));
#endif
#if CYSCC_SWITCH
    shell.busy = switch_->busy();
    switch_->show(uint32_t(shell.flushed), watcher_);
#endif
    const Head bfs = bfs_head(), intersection = intersection_head();
    Mailbox& box = kernels_box();
    const bool intersection_owns = shell.intersection_owns;
#if CYSCC_SWITCH
    Mailbox seen;  // what is at the switch's ports for kernels, in a cycle that is shown
    if (watcher_) {
        bfs_->look(seen);
        if (intersection_owns) intersection_->look(seen);
    }
#endif
    if (watcher_) {
        // Ports without a kernel of the other module are not shared.
        const uint32_t all = ~uint32_t(0), unshared = all << std::min(kBfsKernels, kIntersectionKernels);
        bfs_->show(bfs, intersection_owns ? unshared : all, box, cycle, *watcher_);
        intersection_->show(intersection, intersection_owns ? all : unshared, box, cycle, *watcher_);
    } else {
        bfs_->step(bfs, !intersection_owns, box, cycle);
        intersection_->step(intersection, intersection_owns, box, cycle);
    }
    if (accesses_.wanted()) note_accesses(box, cycle);
#if CYSCC_SWITCH
    Mailbox& ports = driver_.box();
    if (shell.flush) ports.requests[kFlushes] = (uint64_t(1) << kPorts) - 1;
    if (watcher_) switch_->step_shown(ports, seen, cycle, *watcher_);
    else switch_->step(ports);
    shell.asks = box.requests[kFlushes];
    shell.answers = ports.flushed;
    wanted |= shell.asks || shell.answers;
#endif
    step_shell(cycle, wanted || watcher_);
    driver_.accept(cycle);
    resting_ = switch_rests() && station_rests() && shell.quiescent && !driver_.has_commands() &&
               bfs_->rests_until(cycle + 1) > cycle + 1 && intersection_->rests_until(cycle + 1) > cycle + 1 &&
               bfs_->done() == shell.bfs_done && bfs_->error() == shell.bfs_error &&
               intersection_->done() == shell.intersection_done && intersection_->error() == shell.intersection_error;
}

}  // namespace cyscc
