"""Few machines that together have every possible pair of values of any two options.

A fault that takes two options to show is on one of them; few take three.
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import pytest

from cyscc.hw.config import PRESETS, RULES, AcceleratorConfig, ConfigError

Choice = tuple[str, int]
"""An option, and a value of it."""

Pair = frozenset[Choice]

VALUES: Mapping[str, Sequence[int]] = {
    "engines": (1, 2, 3),
    "bfs_kernels": (1, 2, 3),
    "issue_interval": (1, 2),
    "blocking_reservation": (False, True),
    "queued_requests": (0, 4),
    "bfs_only": (False, True),
    "remembered_ids": (0, 32),
    "pair_reads": (False, True),
    "lean_visits": (False, True),
    "link_queues": (0, 4),
    "memory_ports": (0, 1, 4),
    "visited_filter": (0, 64),
    "edge_chunk": (0, 4),
    "short_ring": (False, True),
    "ring_stages": (1, 2),
    "link_cycles": (1, 3),
}
"""The values of each option."""

PUBLISHED = PRESETS["test"].replace(bfs_only=True, issue_interval=2, blocking_reservation=True)
"""A small machine as published, for searches alone."""

KNOWN = {"test": PRESETS["test"], "fast-test": PRESETS["fast-test"], "published": PUBLISHED}
"""Machines that other tests build as well: their pairs need no further machine."""

OFTEN = 3
"""How many of the further machines every test run looks at."""

_TRIED = 40
"""Machines of which the one with the most new pairs is taken."""


def _excluded() -> Iterator[Pair]:
    """Yield the pairs of values that the rules of the configuration exclude."""
    for rule in RULES:
        for value in filter(None, VALUES[rule.option]):
            for other in filter(rule.wrong, VALUES.get(rule.other, ())):
                yield frozenset(((rule.option, value), (rule.other, other)))


def pairs_among(choices: Iterable[Choice]) -> set[Pair]:
    """Return the pairs of values of two options among some values."""
    return {frozenset(pair) for pair in combinations(choices, 2) if pair[0][0] != pair[1][0]}


def pairs_of(config: AcceleratorConfig) -> set[Pair]:
    """Return the pairs of values that a machine has."""
    return pairs_among((name, getattr(config, name)) for name in VALUES)


def settings_of(config: AcceleratorConfig) -> list[str]:
    """Return the options of a command for a machine."""
    plain = vars(PRESETS["test"])
    settings = [f"--set={name}={json.dumps(value)}" for name, value in vars(config).items() if value != plain[name]]
    return ["--config", "test", *settings]


def possible_pairs() -> set[Pair]:
    """Return the pairs of values that some machine has."""
    return pairs_among((name, value) for name, values in VALUES.items() for value in values) - set(_excluded())


def _drawn(chance: random.Random, possible: set[Pair], left: Sequence[Pair]) -> AcceleratorConfig | None:
    """Return a machine with one of the pairs that are left, and as many as its further values can add; or None."""
    wanted = set(left)
    chosen = dict(sorted(chance.choice(left)))
    for name in chance.sample(list(VALUES), len(VALUES)):
        if name not in chosen:
            added = {value: {frozenset(((name, value), each)) for each in chosen.items()} for value in VALUES[name]}
            fitting = [value for value, pairs in added.items() if pairs <= possible]
            if not fitting:
                return None
            chosen[name] = max(fitting, key=lambda value: len(added[value] & wanted))
    try:
        return PRESETS["test"].replace(intersection_kernels=min(2, chosen["bfs_kernels"]), **chosen)
    except ConfigError:
        return None


def _further() -> list[AcceleratorConfig]:
    """Return machines that have all pairs that `KNOWN` lacks; the first ones have the most."""
    # With this seed the first three have few kernels, which take long in Amaranth's simulator, and two find components.
    chance = random.Random(77)
    possible = possible_pairs()
    left = possible.difference(*map(pairs_of, KNOWN.values()))
    machines = []
    while left:
        listed = sorted(left, key=sorted)
        drawn = [config for _ in range(_TRIED) if (config := _drawn(chance, possible, listed))]
        machines.append(max(drawn, key=lambda config: len(pairs_of(config) & left)))
        left -= pairs_of(machines[-1])
    return machines


COVERING: Mapping[str, AcceleratorConfig] = KNOWN | {f"{number}": each for number, each in enumerate(_further(), 1)}
"""All these machines by name."""

MACHINES = [
    pytest.param(config, id=name, marks=pytest.mark.long if name.isdigit() and int(name) > OFTEN else ())
    for name, config in COVERING.items()
]
"""The machines as parameters of tests."""
