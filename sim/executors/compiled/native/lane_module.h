// The kernels of a module in one AE as one object, whose lanes they are.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "counted.h"
#include "lane_exchange.h"

namespace cyscc {

template <class Lanes, int kFifos, class Exchange = NoExchange>
class LaneModule final : public CountedKernels<LaneModule<Lanes, kFifos, Exchange>, Lanes::kLanes, kFifos> {
    using Base = CountedKernels<LaneModule, Lanes::kLanes, kFifos>;
    using typename Base::Array, typename Base::Numbers;
    using Base::chain_, Base::chain_valid_, Base::token_, Base::token_valid_, Base::tokens_;
    using Base::asked_, Base::busy_, Base::count, Base::done_, Base::epoch_, Base::error_, Base::exchange_busy_;
    using Base::exit_, Base::read_epoch_, Base::room_;

public:
    static constexpr int kKernels = Lanes::kLanes;
    // The token does not pass the kernels, but the station that gives them slots.
    static constexpr bool kStation = requires(const Lanes lanes) { lanes.asked(); };

    LaneModule() { put_out(); }

    void advance(const Head& head, bool owns, Mailbox& box, int64_t cycle) override {
        evaluate<false>(head, owns ? Lanes::kAll : 0, box, cycle, nullptr);
    }
    void advance_shown(const Head& head, uint32_t ports, Mailbox& box, int64_t cycle, Watcher& watcher) override {
        evaluate<kIsSeen<Lanes>>(head, ports & Lanes::kAll, box, cycle, &watcher);
    }

    void list_kernel(Inventory& inventory, int kernel) { lanes_.list(inventory, kernel); }
    void list_exchange([[maybe_unused]] Inventory& inventory, [[maybe_unused]] const std::string& place) override {
        if constexpr (Exchange::kThere) exchange_.list(inventory, place);
    }
    void list_signals(Signals& signals, const std::string& place) override { group_ = signals.add(lanes_, place); }
    void list_exchange_signals([[maybe_unused]] Signals& signals, [[maybe_unused]] const std::string& place) override {
        if constexpr (Exchange::kThere) exchange_.list_signals(signals, place);
    }
    void show_causes(Numbers& now) const { lanes_.get_cause(now); }
    void show_fill(typename Base::Fill::Shown& now) const { lanes_.get_fill(now); }

    void look(Mailbox& seen) const override {
        seen.requests[kReads] = lanes_.port_read_valid();
        seen.requests[kWrites] = lanes_.port_write_valid();
        lanes_.get_port_read_payload_0(array(seen.read_payloads));
        lanes_.get_port_write_payload_0(array(seen.write_data));
        lanes_.get_port_write_payload_1(array(seen.write_payloads));
    }

    void rest(int64_t cycle) override {
        if (relay_.carries(cycle)) catch_up(cycle);
        relay_.forget();
        Base::bring_up(cycle);
    }

    void resume(int64_t cycle) override {
        relay_.drop();
        lanes_.resume();
        if constexpr (Exchange::kThere) exchange_.resume();
        put_out();
        relay_.forget();
        Base::resume_counts(cycle);
    }

private:
    // Advances by a cycle, of which a watcher sees everything if it is shown.
    template <bool kShown>
    void evaluate(const Head& head, Bits ports, Mailbox& box, int64_t cycle, [[maybe_unused]] Watcher* watcher) {
        const Bits read_ready = box.read_ready & ports;
        const Bits write_ready = box.write_ready & ports;
        const Bits chain = (lanes_.chain_out_valid() << 1 | Bits(head.chain_valid)) & Lanes::kAll;
        const Bits responses = box.responses & ports;
        const Bits flushed = box.flushed & ports;
        const Bits reads = lanes_.port_read_valid() & read_ready;
        const Bits writes = lanes_.port_write_valid() & write_ready;
        const bool silent = !(chain | responses | flushed | reads | writes);
        if (relay_.carries(cycle)) {
            if (!kShown && silent && !head.token_valid) return;
            catch_up(cycle);
        }
        const Bits passing = this->passing();
        const Bits token = kStation ? Bits(head.blocks) : (passing << 1 | Bits(head.token_valid)) & Lanes::kAll;
        const Bits awake = ~lanes_.quiescent() & Lanes::kAll;
        if (!kShown && silent && !(awake | token)) return;
        const Bits flushes = lanes_.port_flush() & ports;
        if constexpr (!kStation) {
            // A kernel that passes the token on is awake for that.
            if (kShown || !silent || requesting() || awake != passing || (awake && head.token_valid)) {
                relay_.forget();
            } else if (!awake) {
                if (relay_.knows(head.token)) {
                    relay_.take(cycle);
                    exit_ = relay_.exit();
                    return;
                }
                relay_.learn(lanes_, head.token);
            }
        }
        count(cycle);
        if (reads) lanes_.get_port_read_payload_0(array(box.read_payloads));
        if (writes) {
            lanes_.get_port_write_payload_0(array(box.write_data));
            lanes_.get_port_write_payload_1(array(box.write_payloads));
        }
        box.requests[kReads] |= reads;
        box.requests[kWrites] |= writes;
        box.requests[kFlushes] |= flushes;
        if (kShown || responses) {
            lanes_.put_port_response_payload_0(array(box.data));
            lanes_.put_port_response_payload_1(array(box.tags));
        }
        for (Bits left = kShown ? Lanes::kAll : chain; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            lanes_.put_chain_in_payload_0(n, n ? lanes_.get_chain_out_payload_0(n - 1) : head.chain);
        }
        for (Bits left = kShown ? Lanes::kAll : token; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            if constexpr (kStation) lanes_.put_block_payload_0(n, head.block[n]);
            else lanes_.put_token_in_payload_0(n, n ? lanes_.get_token_out_payload_0(n - 1) : head.token);
        }
        lanes_.chain_in_valid(chain);
        if constexpr (kStation) lanes_.block_valid(token);
        else lanes_.token_in_valid(token);
        lanes_.port_read_ready(read_ready);
        lanes_.port_write_ready(write_ready);
        lanes_.port_response_valid(responses);
        lanes_.port_flushed(flushed);
        if constexpr (Exchange::kThere) {
            if constexpr (kShown) exchange_.step(lanes_, *watcher, cycle);
            else exchange_.step(lanes_);
            lanes_.put_drained_0(head.drained);
        }
        if constexpr (kShown) cyscc::show(lanes_, *watcher, group_, cycle);
        lanes_.tick();
        if constexpr (!kStation) relay_.observe(lanes_);
        put_out();
    }

    // A token on its way through kernels that want nothing of it, each of which passes it on a cycle later. A pass that
    // leaves everything as it found it is the same whenever the same token comes again before anything else; the kernels
    // need not be evaluated then.
    class Relay {
    public:
        // Cycles from the one in which the token arrives at the first kernel to the one in which the last one is at rest.
        bool carries(int64_t cycle) const { return cycle <= exit(); }
        // The cycle in which the token leaves the last kernel.
        int64_t exit() const { return entered_ + kKernels; }
        int64_t entered() const { return entered_; }
        uint64_t token() const { return token_; }

        bool knows(uint64_t token) const { return known_ && token == token_; }
        void take(int64_t cycle) { entered_ = cycle; }
        void drop() { entered_ = kNone; }
        void forget() { known_ = learning_ = false; }

        // A pass begins from which to learn.
        void learn(const Lanes& lanes, uint64_t token) {
            known_ = false;
            learning_ = true;
            token_ = token;
            before_.assign(lanes.first_register, lanes.end_of_registers());
            done_ = lanes.done();
            error_ = lanes.error();
            lanes.get_cause(causes_);
        }

        // A cycle of that pass is over.
        void observe(const Lanes& lanes) {
            if (!learning_) return;
            alignas(64) Numbers now;
            lanes.get_cause(now);
            if (lanes.wrote() || lanes.done() != done_ || lanes.error() != error_ ||
                std::memcmp(now, causes_, sizeof now))
                return forget();
            if ((~lanes.quiescent() | lanes.token_out_valid()) & Lanes::kAll) return;
            learning_ = false;
            known_ = !std::memcmp(before_.data(), lanes.first_register, before_.size());
        }

    private:
        static constexpr int64_t kNone = -2 * kKernels;

        int64_t entered_ = kNone;
        bool known_ = false;
        bool learning_ = false;
        uint64_t token_ = 0;
        alignas(64) Numbers causes_ = {};
        Bits done_ = 0;
        Bits error_ = 0;
        std::vector<char> before_;
    };

    // The kernels that put a token out.
    Bits passing() const {
        if constexpr (kStation) return 0;
        else return lanes_.token_out_valid() & Lanes::kAll;
    }

    // The kernels that have a request for the memory, whether or not it is taken.
    Bits requesting() const { return (lanes_.port_read_valid() | lanes_.port_write_valid()) & Lanes::kAll; }

    // Shows the engine what the last kernel puts out, and whether there is anything to do.
    void put_out() {
        constexpr int kLast = kKernels - 1;
        const Bits chain = lanes_.chain_out_valid(), token = passing();
        busy_ = (~lanes_.quiescent() | token | chain | requesting()) & Lanes::kAll;
        chain_valid_ = chain >> kLast & 1;
        token_valid_ = token >> kLast & 1;
        tokens_ = token << (31 - kLast);
        if (kIsSeen<Lanes> || chain_valid_) chain_ = lanes_.get_chain_out_payload_0(kLast);
        if constexpr (kStation) {
            asked_ = lanes_.asked();
            room_ = lanes_.room();
            epoch_ = lanes_.epoch();
        } else if (kIsSeen<Lanes> || token_valid_) {
            token_ = lanes_.get_token_out_payload_0(kLast);
        }
        done_ = lanes_.done();
        error_ = lanes_.error();
        if constexpr (Exchange::kThere) {
            read_epoch_ = lanes_.read_epoch();
            exchange_busy_ = exchange_.busy();
        }
        exit_ = relay_.exit();
    }

    // Does what was left out of a pass before a cycle.
    void catch_up([[maybe_unused]] int64_t cycle) {
        if constexpr (!kStation) {
            lanes_.chain_in_valid(0);
            lanes_.port_read_ready(0);
            lanes_.port_write_ready(0);
            lanes_.port_response_valid(0);
            lanes_.port_flushed(0);
            for (int64_t n = 0; n < cycle - relay_.entered(); ++n) {
                const Bits token = n < kKernels ? 1u << n : 0;
                if (token)
                    lanes_.put_token_in_payload_0(n, n ? lanes_.get_token_out_payload_0(n - 1) : relay_.token());
                lanes_.token_in_valid(token);
                lanes_.tick();
            }
            relay_.drop();
            put_out();
        }
    }

    static Array& array(uint64_t* first) { return *reinterpret_cast<Array*>(first); }

    Lanes lanes_;
    [[no_unique_address]] Exchange exchange_;
    Relay relay_;
    int64_t group_ = 0;  // of signals
};

}  // namespace cyscc
