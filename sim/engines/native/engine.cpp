#include "engine.h"

#include <string>

namespace cyscc {

namespace {

std::string place_of(int number) { return "engine" + std::to_string(number); }

}  // namespace

Engine::Engine(VerilatedContext* context, int number, const MemoryModel& memory, Link* from, Link* to)
    : number_(number),
      memory_(memory),
      box_(memory.mailbox + number * memory.context[kContextMailboxWords]),
      from_(from),
      to_(to),
      shell_(std::make_unique<Vshell>(context, (place_of(number) + ".shell").c_str()))
#if !CYSCC_LANES
      ,
      bfs_(context, place_of(number) + ".bfs"),
      intersection_(context, place_of(number) + ".intersection")
#endif
{
    shell_->engine = number;
    start(*shell_);
}

void Engine::begin(const Command* commands, int count) {
    commands_ = commands;
    count_ = count;
    position_ = 0;
    answers_.clear();
    dispatched_ = -1;
}

void Engine::activity(int64_t cycle, int64_t* counts) { intersection_.activity(cycle, bfs_.activity(cycle, counts)); }

// Plays the host: one command a cycle, a read until it is answered.
inline void Engine::step_host(int64_t cycle) {
    Vshell& shell = *shell_;
    shell.write_valid = 0;
    shell.read_valid = 0;
    shell.instruction_valid = 0;
    if (shell.idle) {
        if (idle_since_ <= dispatched_) idle_since_ = cycle;
    } else if (dispatched_ >= 0) {
        idle_since_ = 0;
    }
    if (awaiting_ && shell.data_valid) {
        answers_.push_back(shell.data_payload);
        awaiting_ = false;
        ++position_;
    }
    if (awaiting_ || position_ >= count_) return;
    const Command& command = commands_[position_];
    switch (command.kind) {
        case kWrite:
            shell.write_valid = 1;
            shell.write_payload[0] = uint32_t(command.value);
            shell.write_payload[1] = uint32_t(command.value >> 32);
            shell.write_payload[2] = uint32_t(command.index);
            ++position_;
            break;
        case kDispatch:
            shell.instruction_valid = 1;
            shell.instruction_payload = uint8_t(command.index);
            dispatched_ = cycle;
            idle_since_ = 0;
            ++position_;
            break;
        default:
            shell.read_valid = 1;
            shell.read_payload = uint16_t(command.index);
            awaiting_ = shell.read_ready;
    }
}

inline void Engine::step_shell(int64_t cycle) {
    Vshell& shell = *shell_;
    step_host(cycle);
#if CYSCC_ENGINES > 1
    const Link::Place& place = from_->at(cycle);
    shell.link_in_valid = place.cycle == cycle;
    if (shell.link_in_valid) shell.link_in_payload = place.payload;
    if (shell.link_out_valid) to_->at(cycle + kLinkCycles) = {cycle + kLinkCycles, shell.link_out_payload};
#endif
#if VM_TRACE
    if (drawn_) return settle(shell);
#endif
    tick(shell);
}

void Engine::step(int64_t cycle) {
    memory_.prepare(memory_.context, number_, cycle);
    Vshell& shell = *shell_;
    const Head bfs_head{bool(shell.bfs_chain_out_valid), bool(shell.bfs_token_out_valid), shell.bfs_chain_out_payload,
                        shell.bfs_token_out_payload};
    const Head intersection_head{bool(shell.intersection_chain_out_valid), bool(shell.intersection_token_out_valid),
                                 shell.intersection_chain_out_payload, shell.intersection_token_out_payload};
    auto connect_tail = [](const auto& module, auto& chain_valid, auto& chain, auto& token_valid, auto& token, auto& done,
                           auto& error) {
        chain_valid = module.chain_valid();
        if (chain_valid) chain = module.chain();
        token_valid = module.token_valid();
        if (token_valid) token = module.token();
        done = module.done();
        error = module.error();
    };
    connect_tail(bfs_, shell.bfs_chain_in_valid, shell.bfs_chain_in_payload, shell.bfs_token_in_valid,
                 shell.bfs_token_in_payload, shell.bfs_done, shell.bfs_error);
    connect_tail(intersection_, shell.intersection_chain_in_valid, shell.intersection_chain_in_payload,
                 shell.intersection_token_in_valid, shell.intersection_token_in_payload, shell.intersection_done,
                 shell.intersection_error);
    const bool intersection_owns = shell.intersection_owns;
#if VM_TRACE
    bfs_.step(bfs_head, !intersection_owns, box_, cycle, drawn_);
    intersection_.step(intersection_head, intersection_owns, box_, cycle, drawn_);
#else
    bfs_.step(bfs_head, !intersection_owns, box_, cycle);
    intersection_.step(intersection_head, intersection_owns, box_, cycle);
#endif
    step_shell(cycle);
    if (box_.has_requests() | box_.responses() | box_.flushed()) moved_ = cycle;
    memory_.accept(memory_.context, number_, cycle);
}

#if VM_TRACE
void Engine::show(int64_t cycle) {
    drawn_ = true;
    step(cycle);
    drawn_ = false;
}

void Engine::clock() {
    bfs_.clock();
    intersection_.clock();
    tick(*shell_);
}
#endif

}  // namespace cyscc
