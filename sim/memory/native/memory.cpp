// The memory of a machine under a profile: the end of a round, its errors, and the functions for executors.
#include "accept.h"
#include "deliver.h"
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

void serve_all(Context& context) {
    for (int64_t part = 0; part < context.parts; ++part) serve(context, part);
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
    if (context.interval != 0) record_until(context, cycle + 1);
    return collect_errors(context);
}

// The last cycle with an outstanding response or completion; see `Memory.last_completion`. Each port stores its latest
// response, write and flush. After that cycle, ports that waited for them are ready again.
int64_t last_completion(const Context& context) {
    int64_t last = -1;
    for (int64_t ae = 0; ae < kEngines; ++ae) {
        for (int64_t number = 0; number < kPorts; ++number) {
            const Port& port = context.sides[ae].ports[number];
            last = std::max({last, port.last_seen, port.last_written, port.last_flushed});
        }
    }
    return last;
}

}  // namespace
}  // namespace cyscc::memory

#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

using cyscc::memory::Context;

CYSCC_EXPORT void cyscc_memory_prepare(Context* context, int64_t ae, int64_t cycle) {
    cyscc::memory::prepare(*context, ae, cycle);
}
CYSCC_EXPORT void cyscc_memory_accept(Context* context, int64_t ae, int64_t cycle) {
    cyscc::memory::accept(*context, ae, cycle);
}
CYSCC_EXPORT int64_t cyscc_memory_settle(Context* context, int64_t cycle) {
    return cyscc::memory::settle(*context, cycle);
}
CYSCC_EXPORT int64_t cyscc_memory_seal(Context* context, int64_t cycle) { return cyscc::memory::seal(*context, cycle); }
CYSCC_EXPORT void cyscc_memory_serve(Context* context, int64_t part) { cyscc::memory::serve(*context, part); }
CYSCC_EXPORT void cyscc_memory_deliver(Context* context, int64_t ae) { cyscc::memory::deliver(*context, ae); }
CYSCC_EXPORT int64_t cyscc_memory_next_event(Context* context, int64_t ae, int64_t cycle) {
    return cyscc::memory::next_event(*context, ae, cycle);
}
CYSCC_EXPORT int64_t cyscc_memory_last_completion(const Context* context) {
    return cyscc::memory::last_completion(*context);
}
