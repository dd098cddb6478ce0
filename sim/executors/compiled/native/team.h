// A team of threads that share the parts of a job and wait for each other after it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cyscc {

// Each round, every part is done once. A part belongs to a member, whose core's caches have what it needs. Members do
// their own parts first: those that are better done there, then those that anyone may take as well once he has nothing
// else to do. What is better done by its owner is taken by others only when he is late, since he has lost his core to
// another process; so that holds up the others only in the middle of a part. Waiting is looking first, then sleeping.
class Team {
public:
    using Part = void (*)(void* owner, int number);

    // Parts have the numbers 0 to kept - 1, of those that members keep, and from there on of those that anyone may take.
    Team(int members, int kept, int free, Part part, void* owner)
        : members_(members), kept_(kept), parts_(kept + free), part_(part), owner_(owner), claims_(new Claim[parts_]) {
        try {
            for (int member = 1; member < members; ++member) threads_.emplace_back([this, member] { serve(member); });
        } catch (const std::system_error& error) {
            end();
            throw std::runtime_error("no further thread can be started: " + error.code().message() +
                                     " (--threads 1 needs none)");
        }
    }

    ~Team() { end(); }

    // Does a round, with the whole team or alone.
    void run(bool together) {
        if (!together) {
            for (int n = 0; n < parts_; ++n) part_(owner_, n);
            return;
        }
        finished_.store(0, std::memory_order_relaxed);
        const unsigned round = round_.fetch_add(1, std::memory_order_acq_rel) + 1;
        round_.notify_all();
        work(0, round);
        for (int finished; (finished = finished_.load(std::memory_order_acquire)) != parts_;)
            await(finished_, finished, round);
        if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(failure_);
    }

private:
    static constexpr int kLooks = 2000;
    static constexpr int kLate = 500;

    // In a cache line of its own: nearly always its owner is the only one who touches it.
    struct alignas(64) Claim {
        std::atomic<unsigned> round{0};
    };

    // Waits for a variable to change, and does meanwhile what others are late with.
    template <class Value>
    void await(std::atomic<Value>& variable, Value old, unsigned round) {
        for (int look = 0; look < kLooks; ++look) {
            if (variable.load(std::memory_order_acquire) != old) return;
            if (look == kLate) finish(take(kept_, 0, round));
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        variable.wait(old, std::memory_order_acquire);
    }

    void work(int member, unsigned round) {
        const auto share = [this](int parts, int member) { return member * parts / members_; };
        int done = 0;
        for (int n = share(kept_, member); n < share(kept_, member + 1); ++n) done += try_part(n, round);
        const int free = parts_ - kept_;
        for (int n = share(free, member); n < share(free, member + 1); ++n) done += try_part(kept_ + n, round);
        finish(done + take(parts_, kept_, round));
    }

    // Does all parts from one number down to another that nobody has begun; returns how many.
    int take(int after, int last, unsigned round) {
        int done = 0;
        for (int n = after; --n >= last;) done += try_part(n, round);
        return done;
    }

    // Does a part, unless somebody has begun it.
    bool try_part(int number, unsigned round) {
        std::atomic<unsigned>& claim = claims_[number].round;
        // A claim moves from the round before to this one, so a member that comes too late finds nothing to claim.
        unsigned before = round - 1;
        if (claim.load(std::memory_order_relaxed) != before ||
            !claim.compare_exchange_strong(before, round, std::memory_order_acq_rel))
            return false;
        try {
            part_(owner_, number);
        } catch (...) {
            // The first to fail tells why, and whoever called for the round throws it; nothing goes on after that.
            if (!failed_.exchange(true)) failure_ = std::current_exception();
        }
        return true;
    }

    void finish(int done) {
        if (done && finished_.fetch_add(done, std::memory_order_acq_rel) + done == parts_) finished_.notify_all();
    }

    void serve(int member) {
        for (unsigned seen = 0;;) {
            await(round_, seen, seen);
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
    const int kept_;
    const int parts_;
    const Part part_;
    void* const owner_;
    std::unique_ptr<Claim[]> claims_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
    alignas(64) std::atomic<unsigned> round_{0};
    alignas(64) std::atomic<int> finished_{0};
};

// Decides whether the team works together or one thread alone, by which was faster lately: together is slower when another
// process has the other cores, and when there is so little to do that waiting costs more than it saves.
class Pace {
public:
    explicit Pace(bool possible) : possible_(possible), together_(possible) {}

    // Has a function do a round of some cycles, together or not. What happens between two rounds costs either way the same.
    template <class Round>
    void time(int64_t cycles, Round round) {
        if (!possible_) return round(false);
        const auto began = Clock::now();
        round(together_);
        spent_ += std::chrono::duration<double>(Clock::now() - began).count();
        cycles_ += cycles;
        if (++rounds_ == kBatch) decide();
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr int kBatch = 32;           // rounds that are timed together
    static constexpr int kSoonest = 8;          // batches until the other way is tried again
    static constexpr int kLatest = 256;

    void decide() {
        cost_[together_] = std::exchange(spent_, 0) / double(std::exchange(cycles_, 0));
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
    double spent_ = 0;
    int64_t cycles_ = 0;
    double cost_[2] = {};  // seconds a cycle
};

}  // namespace cyscc
