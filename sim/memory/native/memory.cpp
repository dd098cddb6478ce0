// The memory of a machine under a profile: the end of a round, its errors, and the functions for executors.
#include "accept.h"
#include "alone.h"
#include "deliver.h"
#include "drain.h"
#include "serve.h"
#include "show.h"

namespace cyscc::memory {
namespace {

// Whether the request of an error is served before that of another, of the same cycle.
bool served_before(const Error& one, const Error& other) {
    const int64_t cycle = one.cycle;
    const int64_t ae = modulo(one.engine - cycle, kEngines), other_ae = modulo(other.engine - cycle, kEngines);
    if (ae != other_ae) return ae < other_ae;
    const int64_t port = modulo(one.port - cycle, kPorts), other_port = modulo(other.port - cycle, kPorts);
    return port < other_port || (port == other_port && (one.kind & 3) < (other.kind & 3));
}

// Takes over an error, unless there is one of the same or an earlier cycle.
void keep_first(Error& first, const Error& other) {
    if (other.code != 0 && (first.code == 0 || other.cycle < first.cycle)) first = other;
}

// Sets the memory's error to the first of those of the service and of all AEs; returns its code.
int64_t collect_errors(Context& context) {
    const Error* first = &context.services[0].error;
    for (int64_t part = 1; part < context.parts; ++part) {
        const Error& error = context.services[part].error;
        if (error.code == 0) continue;
        const bool sooner = first->code == 0 || error.cycle < first->cycle;
        if (sooner || (error.cycle == first->cycle && served_before(error, *first))) first = &error;
    }
    keep_first(context.error, *first);
    for (int64_t ae = 0; ae < kEngines; ++ae) keep_first(context.error, context.sides[ae].error);
    return context.error.code;
}

void deliver_all(Context& context) {
    for (int64_t ae = 0; ae < kEngines; ++ae) deliver(context, ae);
}

// Ends a round; see `Memory.seal`.
int64_t seal(Context& context, int64_t cycle) {
    deliver_all(context);
    serve_all(context);
    const int64_t emptied = context.delivered;
    context.delivered = context.served;
    context.served = context.accepted;
    context.accepted = emptied;
    context.settled = cycle;
    int64_t failed = 0;
    for (int64_t ae = 0; ae < kEngines; ++ae) failed |= context.sides[ae].error.code;
    // Errors of the AEs may be later than errors found when these requests are served.
    if (rarely(failed != 0)) serve_all(context);
    return collect_errors(context);
}

// Performs and delivers all requests up to a cycle; see `Memory.settle`.
int64_t settle(Context& context, int64_t cycle) {
    seal(context, cycle);
    seal(context, cycle);
    deliver_all(context);
    if (context.divisions != 1) {
        // From here on the parts can be others, each of which takes over what is of its addresses.
        for (int64_t division = 0; division < context.divisions; ++division) {
            Rules::before_service(context.rules, context.services[division].shared, cycle);
        }
    }
    if (context.kept == Kept::RECORD) record_until(context, cycle + 1);
    return collect_errors(context);
}

// The last cycle with an outstanding response or completion; see `Memory.last_completion`. Each port stores its latest
// response, write and flush. After that cycle, ports that waited for them are ready again.
int64_t last_completion(const Context& context) {
    int64_t last = -1;
    for (int64_t ae = 0; ae < kEngines; ++ae) {
        for (int64_t number = 0; number < kPorts; ++number) {
            const Side& side = context.sides[ae];
            last = std::max({last, side.last_seen[number], side.last_written[number], side.ports[number].last_flushed});
        }
    }
    return last;
}

}  // namespace
}  // namespace cyscc::memory

// Functions for executors, for Python and for tests; see `FUNCTIONS` in sim/memory/library.py.
#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

namespace memory = cyscc::memory;
using memory::Context;

CYSCC_EXPORT void cyscc_memory_prepare(Context* context, int64_t ae, int64_t cycle) {
    memory::prepare(*context, ae, cycle);
}
CYSCC_EXPORT void cyscc_memory_accept(Context* context, int64_t ae, int64_t cycle) {
    memory::accept(*context, ae, cycle);
}
CYSCC_EXPORT int64_t cyscc_memory_settle(Context* context, int64_t cycle) { return memory::settle(*context, cycle); }
CYSCC_EXPORT int64_t cyscc_memory_seal(Context* context, int64_t cycle) { return memory::seal(*context, cycle); }
CYSCC_EXPORT void cyscc_memory_serve(Context* context, int64_t part) { memory::serve(*context, part); }
CYSCC_EXPORT void cyscc_memory_deliver(Context* context, int64_t ae) { memory::deliver(*context, ae); }
CYSCC_EXPORT int64_t cyscc_memory_next_event(Context* context, int64_t ae, int64_t cycle) {
    return memory::next_event(*context, ae, cycle);
}
CYSCC_EXPORT int64_t cyscc_memory_last_completion(const Context* context) { return memory::last_completion(*context); }
CYSCC_EXPORT void cyscc_memory_drain_banks(const Context* context, int64_t first, int64_t stop,
                                           const int64_t* bank_by_word, int64_t* banks, int64_t of_row) {
    memory::drain_banks(*context->service_record, first, stop, bank_by_word, banks, of_row);
}
CYSCC_EXPORT int64_t cyscc_memory_take_banks(const Context* context, int64_t* taken, const int64_t* bank_by_word,
                                             int64_t* sums, int64_t banks, int64_t* found) {
    return memory::take_banks(*context->service_record, taken, bank_by_word, sums, banks, found);
}
CYSCC_EXPORT int64_t cyscc_memory_take_latencies(const Context* context, int64_t* taken, int64_t* found) {
    return memory::take_latencies(*context, taken, found);
}
CYSCC_EXPORT int64_t cyscc_memory_link_of(const Context* context, int64_t address) {
    return memory::Rules::link_of(context->rules, address);
}
CYSCC_EXPORT int64_t cyscc_memory_place_of(const Context* context, int64_t address, int64_t last) {
    return memory::Rules::place_of(context->rules, address, last);
}
CYSCC_EXPORT int64_t cyscc_memory_play(Context* context, int64_t count, const int64_t* addresses, const int64_t* reads,
                                       int64_t outstanding, int64_t* come, int64_t* done) {
    return memory::play(*context, count, addresses, reads, outstanding, come, done);
}
