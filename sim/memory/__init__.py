"""The memory model of all executors: functional and cycle-accurate.

The code of a request's way is C++, in `native`: acceptance, calendars of links, service, delivery, what an AE sees,
the record; `library` builds it. `records` declares the state, and `profiles` the parameters; `recording` owns the
record over time, `access_log` the log of single accesses. Executors use `Memory`.
"""

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.memory.access_log import Accesses, WatchedRange
from cyscc.sim.memory.library import MemoryModel, memory_header
from cyscc.sim.memory.memory import Memory, PayloadLayout
from cyscc.sim.memory.profiles import (
    Ddr4,
    Fixed,
    Hbm2,
    Hc2,
    Profile,
    Stress,
    changed_profile,
    parse_profile,
    profile_from,
)
from cyscc.sim.memory.profiles.profile import Contention, RowTimes
from cyscc.sim.memory.recording import RecordedIntervals, RecordedSums
from cyscc.sim.memory.records import FLUSH, READ, WRITE
from cyscc.sim.memory.storage import MemoryState, Region

__all__ = [
    "FLUSH",
    "READ",
    "WRITE",
    "Accesses",
    "ArrayKind",
    "Contention",
    "Ddr4",
    "Fixed",
    "Hbm2",
    "Hc2",
    "Memory",
    "MemoryModel",
    "MemoryState",
    "PayloadLayout",
    "Profile",
    "RecordedIntervals",
    "RecordedSums",
    "Region",
    "RowTimes",
    "Stress",
    "WatchedRange",
    "changed_profile",
    "memory_header",
    "parse_profile",
    "profile_from",
]
