// A team of threads that all do one job at a time and meet after it.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace cyscc {

// Waits first by looking, which is quick while every thread has a core of its own, then by sleeping, so that a core that
// another process has taken costs time but never a collapse.
class Team {
public:
    explicit Team(int size) {
        for (int member = 1; member < size; ++member) threads_.emplace_back([this, member] { serve(member); });
    }

    ~Team() {
        stopping_ = true;
        ++round_;
        round_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    // Calls job(member) on every member at once, the caller being member 0; returns when all are done.
    void run(const std::function<void(int)>& job) {
        if (!threads_.empty()) {
            job_ = &job;
            working_.store(int(threads_.size()), std::memory_order_relaxed);
            round_.fetch_add(1, std::memory_order_release);
            round_.notify_all();
        }
        job(0);
        for (int left; (left = working_.load(std::memory_order_acquire)) != 0;) await(working_, left);
    }

private:
    static constexpr int kLooks = 4000;

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

    void serve(int member) {
        for (unsigned seen = 0;;) {
            await(round_, seen);
            seen = round_.load(std::memory_order_acquire);
            if (stopping_) return;
            (*job_)(member);
            if (working_.fetch_sub(1, std::memory_order_release) == 1) working_.notify_all();
        }
    }

    const std::function<void(int)>* job_ = nullptr;
    std::atomic<unsigned> round_{0};
    std::atomic<int> working_{0};
    std::atomic<bool> stopping_{false};
    std::vector<std::thread> threads_;
};

}  // namespace cyscc
