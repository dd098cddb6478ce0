// The interface in C, for ctypes, and what an inventory does; to be included by the one source that has the machine, after
// it.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "machine.h"

#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

namespace cyscc {

void Inventory::add(const char* name, int first, int width, void* address, int bytes, int shift, int rows, int stride) {
    names_.push_back(place_ + name);
    pieces_.push_back({names_.back().c_str(), first, width, rows, static_cast<char*>(address), bytes, shift, stride, 0, 0, 0});
}

void Inventory::gather(uint64_t* words) const {
    for (const Piece& piece : pieces_) {
        for (int64_t row = 0; row < piece.rows; ++row) {
            const uint64_t value = load(piece, row) >> piece.shift & piece.known;
            const int64_t at = piece.at + row * piece.step, word = at / 64, place = at % 64;
            words[word] |= value << place;
            if (place + piece.width > 64) words[word + 1] |= value >> (64 - place);
        }
    }
}

void Inventory::scatter(const uint64_t* words) const {
    for (const Piece& piece : pieces_) {
        if (!piece.known) continue;
        const uint64_t bits = piece.known << piece.shift;
        for (int64_t row = 0; row < piece.rows; ++row) {
            const int64_t at = piece.at + row * piece.step, word = at / 64, place = at % 64;
            uint64_t value = words[word] >> place;
            if (place + piece.width > 64) value |= words[word + 1] << (64 - place);
            const uint64_t whole = (load(piece, row) & ~bits) | (value << piece.shift & bits);
            std::memcpy(piece.address + row * piece.stride, &whole, piece.bytes);
        }
    }
}

uint64_t Inventory::load(const Piece& piece, int64_t row) {
    uint64_t whole = 0;
    std::memcpy(&whole, piece.address + row * piece.stride, piece.bytes);
    return whole;
}

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
    cyscc::guarded([&] { delete machine; });
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
CYSCC_EXPORT void cyscc_log_spells(cyscc::Machine* machine, const cyscc::SpellLog* log) {
    cyscc::guarded([&] { machine->log_spells(*log); });
}
CYSCC_EXPORT void cyscc_write_spells(cyscc::Machine* machine, int open) {
    cyscc::guarded([&] { machine->write_spells(open); });
}
CYSCC_EXPORT void cyscc_log_accesses(cyscc::Machine* machine, const cyscc::AccessRequest* request) {
    cyscc::guarded([&] { machine->log_accesses(*request); });
}
CYSCC_EXPORT int64_t cyscc_take_accesses(cyscc::Machine* machine, int64_t engine, const cyscc::Access** rows) {
    return cyscc::guarded([&] {
        const auto* taken = machine->take_accesses(engine);
        *rows = taken ? taken->data() : nullptr;
        return taken ? int64_t(taken->size()) : 0;
    });
}
CYSCC_EXPORT int64_t cyscc_open_reads(const cyscc::Machine* machine) { return machine->open_reads(); }
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
