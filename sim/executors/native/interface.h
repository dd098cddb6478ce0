// The interface in C, for ctypes; to be included by the one source that has the machine, after it.
#pragma once

#include "machine.h"

#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

namespace cyscc {

Machine* make_machine(const Setup& setup);

}  // namespace cyscc

CYSCC_EXPORT cyscc::Machine* cyscc_create(const cyscc::Setup* setup) { return cyscc::make_machine(*setup); }
CYSCC_EXPORT void cyscc_destroy(cyscc::Machine* machine) { delete machine; }
CYSCC_EXPORT void cyscc_begin(cyscc::Machine* machine, const cyscc::Command* commands, int count) {
    machine->begin(commands, count);
}
CYSCC_EXPORT int cyscc_run(cyscc::Machine* machine, int64_t budget) { return machine->run(budget); }
CYSCC_EXPORT int64_t cyscc_cycle(const cyscc::Machine* machine) { return machine->cycle(); }
CYSCC_EXPORT int64_t cyscc_instruction_cycles(const cyscc::Machine* machine) { return machine->instruction_cycles(); }
CYSCC_EXPORT void cyscc_answers(const cyscc::Machine* machine, uint64_t* values) { machine->answers(values); }
CYSCC_EXPORT void cyscc_causes(cyscc::Machine* machine, int64_t* counts) { machine->causes(counts); }
CYSCC_EXPORT int64_t cyscc_pieces(cyscc::Machine* machine, cyscc::Piece** pieces) {
    *pieces = machine->inventory().pieces().data();
    return int64_t(machine->inventory().pieces().size());
}
CYSCC_EXPORT void cyscc_save(cyscc::Machine* machine, uint64_t* words) {
    machine->rest();
    machine->inventory().gather(words);
}
CYSCC_EXPORT void cyscc_load(cyscc::Machine* machine, const uint64_t* words) {
    machine->inventory().scatter(words);
    machine->resume();
}
