"""The memory model of all executors: functional and cycle-accurate.

Its files follow a request's path: `acceptance`, `crossbar`, `service`, `delivery`, `seen`. `functions` has the entry
points of executors, `recording` the record over time, and `access_log` the log of single accesses. `records` declares
the state, and `profiles` the rules. Executors use `Memory`.
"""

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.memory.access_log import Accesses, WatchedRange
from cyscc.sim.memory.functions import MemoryModel, memory_header
from cyscc.sim.memory.memory import Memory, PayloadLayout
from cyscc.sim.memory.profiles import (
    Contention,
    Fixed,
    Hbm2,
    Hc2,
    Profile,
    RowTimes,
    Stress,
    changed_profile,
    parse_profile,
    profile_from,
)
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
