// What a machine shows in waveforms: its signals, and who looks at them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "state.h"

namespace cyscc {

// An instance of some hardware: its place, what its variables are (`kSeen` of its class), the number by which it is looked
// at, and its pieces among those of all.
struct Instance {
    const char* place;
    const char* variables;
    int64_t group, first, count;
};

// Whether waveforms can show the instances that are lanes of an object.
template <class Lanes>
inline constexpr bool kIsSeen = requires(Lanes& lanes) { lanes.show(); };

// Lists where the signals of all instances are.
class Signals {
public:
    // Adds the instances that are lanes of an object, each at the place with its number, or one at the place itself.
    // Returns the number by which they are looked at.
    template <class Lanes>
    int64_t add(Lanes& lanes, const std::string& place, bool numbered = true) {
        const int64_t group = groups_;
        if constexpr (kIsSeen<Lanes>) {
            for (int n = 0; n < Lanes::kLanes; ++n) {
                const int64_t first = pieces();
                places_.push_back(numbered ? place + std::to_string(n) : place);
                inventory_.enter(places_.back());
                lanes.list_seen(inventory_, n);
                instances_.push_back({places_.back().c_str(), Lanes::kSeen, group, first, pieces() - first});
            }
            ++groups_;
        }
        return group;
    }

    Inventory& inventory() { return inventory_; }
    const std::vector<Instance>& instances() const { return instances_; }
    int64_t groups() const { return groups_; }

private:
    int64_t pieces() { return int64_t(inventory_.pieces().size()); }

    Inventory inventory_;
    std::deque<std::string> places_;
    std::vector<Instance> instances_;
    int64_t groups_ = 0;
};

// Looks at signals in the cycles that are shown.
class Watcher {
public:
    virtual ~Watcher() = default;

    // Those of a group have the values of a cycle.
    virtual void look(int64_t group, int64_t cycle) = 0;
};

// Shows the lanes of an object as they are in a cycle, once their inputs are.
template <class Lanes>
void show(Lanes& lanes, Watcher& watcher, int64_t group, int64_t cycle) {
    if constexpr (kIsSeen<Lanes>) {
        lanes.show();
        watcher.look(group, cycle);
    }
}

}  // namespace cyscc
