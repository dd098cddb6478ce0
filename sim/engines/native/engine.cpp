#include "engine.h"

#include <string>

namespace cyscc {

namespace {

template <class Model, int kCount>
void create(Module<Model, kCount>& module, VerilatedContext* context, const std::string& place) {
    for (int n = 0; n < kCount; ++n) {
        const std::string name = place + std::to_string(n);
        module.kernels[n] = std::make_unique<Model>(context, name.c_str());
        Model& model = *module.kernels[n];
        model.rst = 0;
        model.clk = 0;
        model.eval();
        module.awake |= 1u << n;
    }
}

#if VM_TRACE
// Evaluates what follows from a model's inputs and registers, without a clock edge.
template <class Model>
void settle(Model& model) {
    model.clk = 0;
    model.eval();
}
#endif

uint64_t join(uint32_t low, uint32_t high) { return low | uint64_t(high) << 32; }

}  // namespace

Engine::Engine(VerilatedContext* context, int number, const MemoryModel& memory, Link* from, Link* to)
    : number_(number),
      memory_(memory),
      box_(memory.mailbox + number * memory.context[kContextMailboxWords]),
      from_(from),
      to_(to) {
    const std::string place = "engine" + std::to_string(number);
    shell_ = std::make_unique<Vshell>(context, (place + ".shell").c_str());
    shell_->rst = 0;
    shell_->clk = 0;
    shell_->engine = number;
    shell_->eval();
    create(bfs_, context, place + ".bfs");
    create(intersection_, context, place + ".intersection");
}

void Engine::begin(const Command* commands, int count) {
    commands_ = commands;
    count_ = count;
    position_ = 0;
    answers_.clear();
    dispatched_ = -1;
}

void Engine::activity(int64_t cycle, int64_t* counts) {
    auto copy = [&](auto& module) {
        for (size_t n = 0; n < module.kernels.size(); ++n) {
            module.count(n, cycle);
            for (int64_t cycles : module.activity[n]) *counts++ = cycles;
        }
    };
    copy(bfs_);
    copy(intersection_);
}

// Hands a kernel's requests of this cycle to the memory, and the channels' readiness to the kernel.
template <class Model>
inline void Engine::collect(Model& model, int port, const Arrivals& arrivals) {
    const int64_t bit = int64_t(1) << port;
    model.port_read_ready = arrivals.read_ready >> port & 1;
    model.port_write_ready = arrivals.write_ready >> port & 1;
    if (model.port_read_valid && model.port_read_ready) {
        box_[kBoxReads] |= bit;
        box_[kBoxReadPayloads + port] = int64_t(model.port_read_payload);
    }
    if (model.port_write_valid && model.port_write_ready) {
        const auto& write = model.port_write_payload;
        box_[kBoxWrites] |= bit;
        box_[kBoxWritePayloads + port] = int64_t(join(write[2], write[3]));
        box_[kBoxWriteData + port] = int64_t(join(write[0], write[1]));
    }
    if (model.port_flush) box_[kBoxFlushes] |= bit;
}

// Advances the kernels that have something to do. From the last to the first, so that each still finds what its
// predecessor on chain and ring put out in the cycle before.
template <class Model, int kCount>
inline void Engine::step_module(
    Module<Model, kCount>& module, const Head& head, bool owns, const Arrivals& arrivals, int64_t cycle) {
    constexpr uint32_t kAll = kCount == 32 ? ~0u : (1u << kCount) - 1;
    const uint32_t chain_in = (module.chain_full << 1 | uint32_t(head.chain_valid)) & kAll;
    const uint32_t token_in = (module.token_full << 1 | uint32_t(head.token_valid)) & kAll;
    const uint32_t responses = owns ? arrivals.responses & kAll : 0;
    const uint32_t flushed = owns ? arrivals.flushed & kAll : 0;
    uint32_t todo = module.awake | chain_in | token_in | responses | flushed;
    if (owns) todo |= (module.read_full & arrivals.read_ready) | (module.write_full & arrivals.write_ready);
#if VM_TRACE
    if (drawn_) todo = kAll;
#endif
    while (todo) {
        const int n = 31 - std::countl_zero(todo);
        const uint32_t bit = 1u << n;
        todo ^= bit;
        Model& model = *module.kernels[n];
        module.count(n, cycle);
        if (owns) {
            collect(model, n, arrivals);
        } else if (VM_TRACE) {
            model.port_read_ready = 0;
            model.port_write_ready = 0;
        }
        model.chain_in_valid = (chain_in & bit) != 0;
        if (chain_in & bit) model.chain_in_payload = n ? module.kernels[n - 1]->chain_out_payload : head.chain;
        model.token_in_valid = (token_in & bit) != 0;
        if (token_in & bit) model.token_in_payload = n ? module.kernels[n - 1]->token_out_payload : head.token;
        model.port_flushed = (flushed & bit) != 0;
        model.port_response_valid = (responses & bit) != 0;
        if (responses & bit) {
            const uint64_t data = uint64_t(box_[kBoxData + n]);
            model.port_response_payload[0] = uint32_t(data);
            model.port_response_payload[1] = uint32_t(data >> 32);
            model.port_response_payload[2] = uint32_t(box_[kBoxTags + n]);
        }
#if VM_TRACE
        if (drawn_) {
            settle(model);
            continue;
        }
#endif
        tick(model);
        module.observe(n);
    }
}

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
    const Arrivals arrivals{
        uint32_t(box_[kBoxReadReady]),
        uint32_t(box_[kBoxWriteReady]),
        uint32_t(box_[kBoxResponses]),
        uint32_t(box_[kBoxFlushed]),
    };
    Vshell& shell = *shell_;
    const Head bfs_head{bool(shell.bfs_chain_out_valid), bool(shell.bfs_token_out_valid), shell.bfs_chain_out_payload,
                        shell.bfs_token_out_payload};
    const Head intersection_head{bool(shell.intersection_chain_out_valid), bool(shell.intersection_token_out_valid),
                                 shell.intersection_chain_out_payload, shell.intersection_token_out_payload};
    auto connect_tail = [](auto& module, auto& chain_valid, auto& chain, auto& token_valid, auto& token, auto& done,
                           auto& error) {
        constexpr int kLast = std::tuple_size_v<std::remove_reference_t<decltype(module.kernels)>> - 1;
        const auto& last = *module.kernels[kLast];
        chain_valid = last.chain_out_valid;
        chain = last.chain_out_payload;
        token_valid = last.token_out_valid;
        token = last.token_out_payload;
        done = module.done;
        error = module.error;
    };
    connect_tail(bfs_, shell.bfs_chain_in_valid, shell.bfs_chain_in_payload, shell.bfs_token_in_valid,
                 shell.bfs_token_in_payload, shell.bfs_done, shell.bfs_error);
    connect_tail(intersection_, shell.intersection_chain_in_valid, shell.intersection_chain_in_payload,
                 shell.intersection_token_in_valid, shell.intersection_token_in_payload, shell.intersection_done,
                 shell.intersection_error);
    const bool intersection_owns = shell.intersection_owns;
    step_module(bfs_, bfs_head, !intersection_owns, arrivals, cycle);
    step_module(intersection_, intersection_head, intersection_owns, arrivals, cycle);
    step_shell(cycle);
    const int64_t requests = box_[kBoxReads] | box_[kBoxWrites] | box_[kBoxFlushes];
    if (requests | arrivals.responses | arrivals.flushed) moved_ = cycle;
    memory_.accept(memory_.context, number_, cycle);
}

#if VM_TRACE
void Engine::show(int64_t cycle) {
    drawn_ = true;
    step(cycle);
    drawn_ = false;
}

void Engine::clock() {
    auto clock_module = [](auto& module) {
        for (size_t n = 0; n < module.kernels.size(); ++n) {
            tick(*module.kernels[n]);
            module.observe(int(n));
        }
    };
    clock_module(bfs_);
    clock_module(intersection_);
    tick(*shell_);
}
#endif

}  // namespace cyscc
