// One Application Engine: shell and kernels, wired one to one, with the driver of its host and memory ports.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "access_log.h"
#include "config.h"
#include "kernels.h"
#include "pin_driver.h"
#if CYSCC_SWITCH
#include "switch.h"
#endif
// Generated.
#include "shell.h"

namespace cyscc {

// The link from an engine to the next: messages in the order in which they were sent, and so arrive. What is sent while
// both engines run arrives after the sync point, so the receiver need not notice it before.
class Link {
public:
    // In a cycle, by the sender.
    void send(int64_t cycle, uint64_t payload) {
        const uint64_t sent = sent_.load(std::memory_order_relaxed);
        messages_[sent % kLinkPlaces] = {cycle + kLinkCycles, payload};
        sent_.store(sent + 1, std::memory_order_release);
    }

    // The cycle in which the next message arrives.
    int64_t arrival() const {
        return received_ == sent_.load(std::memory_order_acquire) ? kNever : messages_[received_ % kLinkPlaces].cycle;
    }

    // Whether that message is a token by which everything may be done.
    bool tells_done() const { return messages_[received_ % kLinkPlaces].payload >> kDoneBit & 1; }

    // Takes that message.
    uint64_t receive() { return messages_[received_++ % kLinkPlaces].payload; }

    // Its state by name has messages at places by cycle of arrival.
    void list(Inventory& inventory) {
        inventory.add("cycle", &places_[0].cycle, kLinkPlaces, sizeof(Message));
        inventory.add("payload", &places_[0].payload, kLinkPlaces, sizeof(Message));
    }

    void rest() {
        places_.fill({});
        for (uint64_t n = received_; n != sent_; ++n)
            places_[messages_[n % kLinkPlaces].cycle % kLinkPlaces] = messages_[n % kLinkPlaces];
    }

    void resume(int64_t cycle) {
        received_ = sent_ = 0;
        for (int64_t at = cycle; at < cycle + kLinkPlaces; ++at)
            if (places_[at % kLinkPlaces].cycle == at) messages_[sent_++] = places_[at % kLinkPlaces];
    }

private:
    struct Message {
        int64_t cycle = -1;
        uint64_t payload = 0;
    };
    std::array<Message, kLinkPlaces> messages_;
    std::array<Message, kLinkPlaces> places_;
    alignas(64) std::atomic<uint64_t> sent_{0};
    alignas(64) uint64_t received_ = 0;
};
static_assert(kLinkCycles * 2 <= kLinkPlaces);

// What an engine knows at a sync point of the cycles after it.
struct Outlook {
    int64_t sends = 0;      // the first cycle in which it may send a message, if none arrives
    int64_t transit = 0;    // cycles from the arrival of a message until it may send one because of that
    bool has_token = false; // a token is among its kernels, or on its way to or from them
};

// The words of a row by kernel: causes, three numbers of each FIFO, when its run began and ended. Besides, the cycle and
// the turns of both tokens.
static_assert(kRowWords == 1 + kBfsKernels * (kCauses + 3 * kBfsFifos + 2) +
                               kIntersectionKernels * (kCauses + 3 * kIntersectionFifos + 2) + 2);

class Engine {
public:
    Engine(int number, const MemoryModel& memory, Link* from, Link* to);

    // Advances by one cycle.
    void step(int64_t cycle);

    // Advances from a cycle to another, by steps where something may happen; samples at the boundaries on its way.
    void run(int64_t cycle, int64_t end);

    // From a cycle on, samples at every multiple of an interval into the rows, of which multiple n has number n % places.
    void record(int64_t cycle, int64_t interval, int64_t places, int64_t* rows);
    // Samples, if this is the next boundary.
    void reach(int64_t cycle) {
        if (cycle == boundary_) sample(cycle);
    }
    // Writes a row of what was counted up to a cycle.
    void write(int64_t cycle, int64_t* row);
    void begin_instruction(int64_t cycle);

    // From a cycle on, logs the spells of all kernels, see `Kernels`.
    void log_spells(int64_t cycle, SpellLog log);
    void write_spells(int64_t cycle, bool open);

    // From now on, logs the accesses of all kernels.
    void log_accesses(const AccessRequest& request) { accesses_.want(number_, request); }
    const std::vector<Access>& take_accesses() { return accesses_.take(); }
    int64_t open_reads() const { return accesses_.open(); }

    PinDriver& driver() { return driver_; }

    // Of the cycle that the last `run` ended with.
    const Outlook& outlook() const { return outlook_; }

    // The state by name: where it is, what is left out of it up to a cycle, and what follows from it.
    void list(Inventory& inventory);
    void rest(int64_t cycle);
    void resume(int64_t cycle);

    // Lists the signals, where waveforms show them.
    void list_signals(Signals& signals);

    // In the cycles from now on, which are run one by one, a watcher sees everything, or none does.
    void show(Watcher* watcher) { watcher_ = watcher; }

private:
    void advance(int64_t cycle, int64_t end);
    Head bfs_head() const;
    Head intersection_head() const;
    void sample(int64_t cycle);
    int64_t next_event(int64_t cycle, int64_t end) const;
    Outlook look_ahead(int64_t cycle) const;
    bool connect_tails(int64_t cycle);
    Mailbox& kernels_box();
    bool switch_rests() const;
    bool station_rests() const;
    void step_shell(int64_t cycle, bool wanted);
    void send(int64_t cycle);
    void note_accesses(const Mailbox& box, int64_t cycle);
    void keep_data();

    const int number_;
    const MemoryModel memory_;
    PinDriver driver_;
    Link* const from_;
    Link* const to_;
    std::unique_ptr<Shell> shell_;
    const std::unique_ptr<Kernels> bfs_;
    const std::unique_ptr<Kernels> intersection_;
#if CYSCC_SWITCH
    const std::unique_ptr<Switch> switch_;
#endif

    int64_t sync_point_ = 0;  // up to which it runs
    alignas(64) Outlook outlook_;
    alignas(64) int64_t clocked_ = -1;  // the cycle in which the shell was evaluated last
    int64_t boundary_ = kNever;  // where the next row is written
    int64_t interval_ = 0;       // cycles between two rows; 0: none is written
    int64_t places_ = 0;
    int64_t* rows_ = nullptr;
    AccessLog accesses_;
    bool resting_ = false;  // nothing happens in the next cycle unless something arrives
    Watcher* watcher_ = nullptr;
    int64_t shell_group_ = 0;  // of signals
    uint64_t data_[kPorts] = {}, tags_[kPorts] = {};  // of the last response of each port
};

}  // namespace cyscc
