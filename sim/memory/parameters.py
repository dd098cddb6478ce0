"""Memory profiles: what an engine's requests meet, as named numbers.

A profile of one's own is `hc2` with some of its numbers changed. It is written as a mapping, for example a table of
a TOML file, whose keys are the fields of `MemoryParameters` that name cycles or places::

    [memory]
    profile = "hc2"
    bank_busy = 20
    port_queue = 8

`MemoryParameters.from_mapping` reads it. A profile of a new kind is a new value of `MemoryParameters.kind`: its
timing goes into `sim.memory.timing`, its readiness into `sim.memory.channels`, and its name into `parse_profile`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

__all__ = [
    "LATENCY_LIMIT",
    "STRESS_LATENCY_LIMIT",
    "MemoryParameters",
    "parse_profile",
]

LATENCY_LIMIT = 100_000
"""Largest latency of a `fixed` profile, in cycles."""

STRESS_LATENCY_LIMIT = 1000
"""Largest latency of a read in the `stress` profile, in cycles."""

_FIXED_FLUSH = 4
_STRESS_FLUSH = 4
_CYCLE_LIMIT = 1_000_000
_PLACES_LIMIT = 65_536
_SEED_LIMIT = 2**63 - 1

_RANGES = {
    "request_travel": (0, _CYCLE_LIMIT),
    "bank_busy": (1, 10_000),
    "response_travel": (0, _CYCLE_LIMIT),
    "flush_travel": (1, _CYCLE_LIMIT),
    "port_queue": (1, _PLACES_LIMIT),
    "reads_in_flight": (1, _PLACES_LIMIT),
    "writes_in_flight": (1, _PLACES_LIMIT),
    "latency": (1, LATENCY_LIMIT),
    "seed": (0, _SEED_LIMIT),
}
_OWN_KEYS = {"hc2": tuple(_RANGES)[:7], "fixed": ("latency",), "stress": ("seed",)}


@dataclass(frozen=True, kw_only=True)
class MemoryParameters:
    """Numbers of one memory profile; all times in cycles of 150 MHz.

    Parameters
    ----------
    kind : {"hc2", "fixed", "stress"}
        Which timing rules hold. The other fields belong to one kind each, and are ignored by the rest.
    request_travel : int
        `hc2`: from a crossbar link to the bank. Half of the 400 ns (60 cycles) there and back of the vendor's
        public simulation model; that the two ways are equal is an assumption.
    bank_busy : int
        `hc2`: a bank's time for one access, 100 ns in the vendor's public simulation model.
    response_travel : int
        `hc2`: from the bank's return link to the port. The other half of the 60 cycles.
    flush_travel : int
        `hc2`: least time from a flush request to its completion. An assumption: the way there and back.
    port_queue : int
        `hc2`: a port is ready while its latest request entered its link less than this many cycles ahead of now,
        that is, about this many requests can wait at a port. An assumption.
    reads_in_flight : int
        `hc2`: reads a port takes before the oldest has been answered. An assumption.
    writes_in_flight : int
        `hc2`: writes a port takes before the oldest has completed. An assumption, and what bounds the backlog of a
        bank that many ports write to.
    latency : int
        `fixed`: cycles from the acceptance of a read to its response, 1 to 100000.
    seed : int
        `stress`: start of the random latencies and stalls, 0 to 2**63 - 1.

    Raises
    ------
    ValueError
        If the kind is unknown or a number is not an integer in its range.
    """

    kind: Literal["hc2", "fixed", "stress"] = "hc2"
    request_travel: int = 30
    bank_busy: int = 15
    response_travel: int = 30
    flush_travel: int = 60
    port_queue: int = 32
    reads_in_flight: int = 512
    writes_in_flight: int = 512
    latency: int = 75
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if self.kind not in _OWN_KEYS:
            raise ValueError(f"memory kind must be one of {', '.join(_OWN_KEYS)}, not {self.kind!r}")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"memory {name} must be an integer from {low} to {high}, not {value!r}")

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> "MemoryParameters":
        """Read a profile from a mapping.

        Parameters
        ----------
        mapping : Mapping of str to object
            `profile`, as for `parse_profile` ("hc2" when left out), and for `hc2` any of its fields.

        Returns
        -------
        MemoryParameters
            The profile with those fields replaced.

        Raises
        ------
        ValueError
            If a key is unknown or a value impossible.
        """
        values = dict(mapping)
        profile = values.pop("profile", "hc2")
        if not isinstance(profile, str):
            raise ValueError(f"memory profile must be a string, not {profile!r}")
        base = parse_profile(profile)
        known = _OWN_KEYS["hc2"] if base.kind == "hc2" else ()
        for key in values:
            if key not in known:
                choice = f"choose from {', '.join(('profile', *known))}"
                raise ValueError(f"memory key {key!r} is not known for profile {profile!r}: {choice}")
        old = {field.name: getattr(base, field.name) for field in fields(base)}
        return cls(**{**old, **values})

    @property
    def name(self) -> str:
        """The profile as text: what `parse_profile` reads, with changed numbers in brackets."""
        if self.kind == "fixed":
            return f"fixed:{self.latency}"
        if self.kind == "stress":
            return f"stress:{self.seed}"
        standard = MemoryParameters()
        changed = [key for key in _OWN_KEYS["hc2"] if getattr(self, key) != getattr(standard, key)]
        return f"hc2({', '.join(f'{key}={getattr(self, key)}' for key in changed)})" if changed else "hc2"

    @property
    def unloaded_latency(self) -> int:
        """Cycles from the acceptance of a lone read to its response (`stress`: the least)."""
        if self.kind == "fixed":
            return self.latency
        if self.kind == "stress":
            return 70
        return self.request_travel + self.bank_busy + self.response_travel

    @property
    def quantum(self) -> int:
        """Most cycles that engines may run before `settle`: the shortest time in which anything comes back."""
        flush = {"hc2": self.flush_travel, "fixed": _FIXED_FLUSH, "stress": _STRESS_FLUSH}[self.kind]
        return min(flush, self.unloaded_latency)


def parse_profile(text: str) -> MemoryParameters:
    """Return the profile that a text names.

    Parameters
    ----------
    text : str
        `hc2`, `fixed:<cycles>` with 1 to 100000 cycles, `stress`, or `stress:<seed>` (`stress` is `stress:0`).

    Returns
    -------
    MemoryParameters
        The profile's numbers.

    Raises
    ------
    ValueError
        If the text names no profile.
    """
    if text == "hc2":
        return MemoryParameters()
    if text == "stress":
        return MemoryParameters(kind="stress")
    if match := re.fullmatch(r"(fixed|stress):([0-9]{1,19})", text):
        kind, number = match.group(1), int(match.group(2))
        if kind == "fixed" and 1 <= number <= LATENCY_LIMIT:
            return MemoryParameters(kind="fixed", latency=number)
        if kind == "stress" and number <= _SEED_LIMIT:
            return MemoryParameters(kind="stress", seed=number)
    choice = f"hc2, fixed:<cycles> (1 to {LATENCY_LIMIT}), stress, stress:<seed> (0 to {_SEED_LIMIT})"
    raise ValueError(f"memory profile {text!r} is not known: choose from {choice}")
