"""Memory profiles, one file each, and how they are named."""

from sim.memory.profiles.choice import changed_profile, parse_profile, profile_from, read_profile
from sim.memory.profiles.fixed import Fixed
from sim.memory.profiles.hbm2 import Hbm2
from sim.memory.profiles.hc2 import Hc2
from sim.memory.profiles.profile import Contention, Profile, RowTimes
from sim.memory.profiles.stress import Stress

__all__ = [
    "Contention",
    "Fixed",
    "Hbm2",
    "Hc2",
    "Profile",
    "RowTimes",
    "Stress",
    "changed_profile",
    "parse_profile",
    "profile_from",
    "read_profile",
]
