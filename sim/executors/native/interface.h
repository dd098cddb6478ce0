// The interface in C, for ctypes; to be included by the one source that has the machine, after it.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <new>

#include "inventory.h"
#include "machine.h"

#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

namespace cyscc {

Machine* make_machine(const Setup& setup);

// Why the last call of this thread failed; empty when it did not.
inline thread_local char failure[256];

// Calls a function, and keeps what it throws from the caller, who knows no C++: then the failure says why.
template <class Call>
auto guarded(Call&& call) noexcept -> decltype(call()) {
    failure[0] = 0;
    try {
        return call();
    } catch (const std::bad_alloc&) {
        std::snprintf(failure, sizeof failure, "not enough memory");
    } catch (const std::exception& error) {
        std::snprintf(failure, sizeof failure, "%s", *error.what() ? error.what() : "an exception without a reason");
    } catch (...) {
        std::snprintf(failure, sizeof failure, "an unknown exception");
    }
    return decltype(call())();
}

}  // namespace cyscc

CYSCC_EXPORT const char* cyscc_failure() { return cyscc::failure; }
CYSCC_EXPORT cyscc::Machine* cyscc_create(const cyscc::Setup* setup) {
    return cyscc::guarded([&] { return cyscc::make_machine(*setup); });
}
CYSCC_EXPORT void cyscc_destroy(cyscc::Machine* machine) {
    cyscc::guarded([&] {
        const std::unique_ptr<cyscc::Machine> owned(machine);
        owned->finish();
    });
}
CYSCC_EXPORT void cyscc_begin(cyscc::Machine* machine, const cyscc::Command* commands, int count) {
    cyscc::guarded([&] { machine->begin(commands, count); });
}
CYSCC_EXPORT int cyscc_run(cyscc::Machine* machine, int64_t budget) {
    return cyscc::guarded([&] { return machine->run(budget); });
}
CYSCC_EXPORT int64_t cyscc_cycle(const cyscc::Machine* machine) { return machine->cycle(); }
CYSCC_EXPORT int64_t cyscc_instruction_cycles(const cyscc::Machine* machine) { return machine->instruction_cycles(); }
CYSCC_EXPORT void cyscc_answers(const cyscc::Machine* machine, uint64_t* values) { machine->answers(values); }
CYSCC_EXPORT void cyscc_record(cyscc::Machine* machine, int64_t interval, int64_t places, int64_t* rows) {
    cyscc::guarded([&] { machine->record(interval, places, rows); });
}
CYSCC_EXPORT void cyscc_sample(cyscc::Machine* machine, int64_t* rows) {
    cyscc::guarded([&] { machine->sample(rows); });
}
CYSCC_EXPORT void cyscc_begin_instruction(cyscc::Machine* machine) {
    cyscc::guarded([&] { machine->begin_instruction(); });
}
CYSCC_EXPORT int64_t cyscc_pieces(cyscc::Machine* machine, cyscc::Piece** pieces) {
    return cyscc::guarded([&] {
        *pieces = machine->inventory().pieces().data();
        return int64_t(machine->inventory().pieces().size());
    });
}
CYSCC_EXPORT void cyscc_save(cyscc::Machine* machine, uint64_t* words) {
    cyscc::guarded([&] {
        machine->rest();
        machine->inventory().gather(words);
    });
}
CYSCC_EXPORT void cyscc_load(cyscc::Machine* machine, const uint64_t* words) {
    cyscc::guarded([&] {
        machine->inventory().scatter(words);
        machine->resume();
    });
}
