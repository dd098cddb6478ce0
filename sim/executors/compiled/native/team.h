// A team of threads that share the parts of a job and wait for each other after it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cyscc {

// Each round, every part is done once, by whoever claims it first. Members begin with parts of their own, which keeps
// caches warm, and go on with what nobody has begun; so a member that has lost its core to another process holds up the
// others only if that happened in the middle of a part. Waiting is looking first, then sleeping.
class Team {
public:
    Team(int members, int parts, std::function<void(int)> part)
        : members_(members), parts_(parts), part_(std::move(part)), claims_(new std::atomic<unsigned>[parts]) {
        for (int n = 0; n < parts; ++n) claims_[n] = 0;
        try {
            for (int member = 1; member < members; ++member) threads_.emplace_back([this, member] { serve(member); });
        } catch (const std::system_error& error) {
            end();
            throw std::runtime_error("no further thread can be started: " + error.code().message() +
                                     " (--threads 1 needs none)");
        }
    }

    ~Team() { end(); }

    int members() const { return members_; }

    // Does a round, with the whole team or alone.
    void run(bool together) {
        if (together) {
            finished_.store(0, std::memory_order_relaxed);
            const unsigned round = round_.fetch_add(1, std::memory_order_acq_rel) + 1;
            round_.notify_all();
            work(0, round);
            for (int finished; (finished = finished_.load(std::memory_order_acquire)) != parts_;)
                await(finished_, finished);
            if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(failure_);
        } else {
            for (int n = 0; n < parts_; ++n) part_(n);
        }
    }

private:
    static constexpr int kLooks = 2000;

    template <class Value>
    static void await(std::atomic<Value>& variable, Value old) {
        for (int look = 0; look < kLooks; ++look) {
            if (variable.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        variable.wait(old, std::memory_order_acquire);
    }

    void work(int member, unsigned round) {
        for (int step = 0; step < parts_; ++step) {
            const int n = (member * parts_ / members_ + step) % parts_;
            // A claim moves from the round before to this one, so a member that comes too late finds nothing to claim.
            unsigned before = round - 1;
            if (!claims_[n].compare_exchange_strong(before, round, std::memory_order_acq_rel)) continue;
            try {
                part_(n);
            } catch (...) {
                // The first to fail tells why, and whoever called for the round throws it; nothing goes on after that.
                if (!failed_.exchange(true)) failure_ = std::current_exception();
            }
            if (finished_.fetch_add(1, std::memory_order_acq_rel) == parts_ - 1) finished_.notify_all();
        }
    }

    void serve(int member) {
        for (unsigned seen = 0;;) {
            await(round_, seen);
            seen = round_.load(std::memory_order_acquire);
            if (stopping_) return;
            work(member, seen);
        }
    }

    void end() {
        stopping_ = true;
        ++round_;
        round_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    const int members_;
    const int parts_;
    const std::function<void(int)> part_;
    std::unique_ptr<std::atomic<unsigned>[]> claims_;
    std::atomic<unsigned> round_{0};
    std::atomic<int> finished_{0};
    std::atomic<bool> stopping_{false};
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

// Decides whether the team works together or one thread alone, by which was faster lately: together is slower when another
// process has the other cores, and when there is so little to do that waiting costs more than it saves.
class Pace {
public:
    explicit Pace(bool possible) : possible_(possible), together_(possible) {}

    // Has a function do a round, together or not. What happens between two rounds costs either way the same.
    template <class Round>
    void time(Round round) {
        if (!possible_) return round(false);
        const auto began = Clock::now();
        round(together_);
        spent_ += Clock::now() - began;
        if (++rounds_ == kBatch) decide();
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr int kBatch = 32;           // rounds that are timed together
    static constexpr int kSoonest = 8;          // batches until the other way is tried again
    static constexpr int kLatest = 256;

    void decide() {
        cost_[together_] = std::exchange(spent_, {});
        rounds_ = 0;
        if (trying_) {
            trying_ = false;
            const bool better = cost_[together_] < cost_[!together_];
            patience_ = better ? kSoonest : std::min(2 * patience_, kLatest);
            if (!better) together_ = !together_;
            waited_ = 0;
        } else if (++waited_ >= patience_) {
            trying_ = true;
            together_ = !together_;
        }
    }

    const bool possible_;
    bool together_;
    bool trying_ = false;
    int rounds_ = 0;
    int waited_ = 0;
    int patience_ = kSoonest;
    Clock::duration spent_{};
    Clock::duration cost_[2] = {};
};

}  // namespace cyscc
