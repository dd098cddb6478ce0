// Tells what the threads of this process execute: by sampling their processor time, and by counting instructions. Code of
// the memory counts for the function that was called, since it has no names; any other by its address in a library.

#include <cstdint>
#include <csignal>
#include <ctime>
#include <vector>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "memory.h"

namespace cyscc {
namespace {

// The memory's function that a thread executes, from 1 on. A signal handler reads it, so it is allocated at once.
thread_local __attribute__((tls_model("initial-exec"))) volatile int function = 0;

class Within {
public:
    explicit Within(int number) { function = number; }
    ~Within() { function = 0; }
};

struct Counts {
    uint64_t base;       // where the library is
    uint64_t size;
    int64_t* addresses;  // by address in it
    int64_t* functions;  // by function of the memory; at 0 whatever else is executed
};

// What interrupts: a timer of a thread's processor time, or the end of an instruction.
Counts samples, instructions;
std::vector<timer_t> timers;

int64_t every = 0;  // of how many rounds the instructions of one are counted; 0: of none
int64_t rounds = 0;
int64_t began = 0;
int64_t counted = 0;
bool counting = false;

void note(int signal, siginfo_t*, void* context) {
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    const uint64_t place = uint64_t(registers.gregs[REG_RIP]);
#else
    const uint64_t place = registers.pc;
#endif
    const Counts& counts = signal == SIGTRAP ? instructions : samples;
    const uint64_t offset = place - counts.base;
    int64_t& count = !function && offset < counts.size ? counts.addresses[offset] : counts.functions[function];
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

void handle(int signal) {
    struct sigaction action = {};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal, &action, nullptr);
}

// Has the processor interrupt after each instruction, or no longer.
void step_singly([[maybe_unused]] bool singly) {
#if defined(__x86_64__)
    constexpr uint64_t kTrap = 1 << 8;
    const uint64_t flags = __builtin_ia32_readeflags_u64();
    __builtin_ia32_writeeflags_u64(singly ? flags | kTrap : flags & ~kTrap);
#endif
}

// A round ends in a cycle.
void end_round(int64_t cycle) {
    if (counting) {
        step_singly(counting = false);
        counted += cycle - began;
    } else if (every && ++rounds % every == 0) {
        began = cycle;
        step_singly(counting = true);
    }
}

// Generated: for each function of the memory one that calls it and says so meanwhile.
#include "watched.h"

}  // namespace
}  // namespace cyscc

#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

// Has a memory's functions called by way of those that say so.
CYSCC_EXPORT void cyscc_watch(cyscc::MemoryModel* model) { cyscc::watch(*model); }

// Samples a thread of this process from now on, at intervals of its processor time.
CYSCC_EXPORT void cyscc_sample(const cyscc::Counts* counts, int64_t thread, int64_t nanoseconds) {
    cyscc::samples = *counts;
    cyscc::handle(SIGPROF);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = pid_t(thread);
    // The clock of another thread's processor time, see clock_getcpuclockid(3) and the kernel's posix-timers.h.
    const clockid_t clock = (~clockid_t(thread) << 3) | 6;
    timer_t timer;
    if (timer_create(clock, &event, &timer)) return;
    const timespec interval = {0, long(nanoseconds)};
    const itimerspec times = {interval, interval};
    timer_settime(timer, 0, &times, nullptr);
    cyscc::timers.push_back(timer);
}

CYSCC_EXPORT void cyscc_stop_sampling() {
    for (timer_t timer : cyscc::timers) timer_delete(timer);
    cyscc::timers.clear();
}

// Counts the instructions of one of some rounds from now on; of none with 0. Returns of how many cycles they have been.
CYSCC_EXPORT int64_t cyscc_count(const cyscc::Counts* counts, int64_t every) {
    cyscc::instructions = *counts;
    cyscc::every = every;
    cyscc::handle(SIGTRAP);
    return cyscc::counted;
}
