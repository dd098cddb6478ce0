"""Random machines and memories, as the tables of their TOML files."""

from typing import Any

import numpy as np

Table = dict[str, Any]
"""Keys and values of a TOML file."""

Chance = np.random.Generator

PER_MACHINE = 12_000
"""Cases that share a machine that must be built, which takes half a minute."""

_PUBLISHED = {"preset": "test", "issue_interval": 2, "blocking_reservation": True}

SMALL: list[Table] = [
    {"preset": "test"},
    {"preset": "test", "remembered_ids": 32},
    {**_PUBLISHED, "bfs_only": True},
    {"preset": "fast-test"},
]
"""Small machines that the tests have built: one as it is, one that drops copies, one that only searches, and one with
switch, filter, chunks and the other options of the next machine."""

KNOWN: list[Table] = [
    SMALL[0],
    *({"preset": name} for name in ("hc2", "hc2-1ae", "published-1ae", "published-bfs-1ae")),
    *SMALL[1:],
]
"""Machines that the tests have built."""

_SHARES = (0.25, 0.05, 0.06, 0.06, 0.04, 0.14, 0.14, 0.26)
"""How often each of them is taken: the small ones are quicker, and closer to their limits."""

_DEPTHS = ("frontier", "neighbour", "word", "visit", "reach", "colour", "unvisit")


def _new_machine(chance: Chance) -> Table:
    kernels = int(chance.integers(1, 6))
    sizes = {f"{name}_depth": int(2 ** chance.integers(2, 6)) for name in _DEPTHS}
    machine: Table = {
        "preset": "test",
        "engines": int(chance.integers(1, 5)),
        "bfs_kernels": kernels,
        "intersection_kernels": int(chance.integers(1, kernels + 1)),
        **sizes,
        "issue_interval": int(chance.integers(1, 3)),
        "blocking_reservation": bool(chance.random() < 0.3),
        "bfs_only": bool(chance.random() < 0.15),
        "remembered_ids": int(chance.choice([0, 0, 8, 16, 64, 256])),
        "queued_requests": int(chance.choice([0, 0, 4, 32])),
        "ring_stages": int(chance.integers(1, 9)),
        "link_cycles": int(chance.integers(1, 17)),
    }
    return machine if chance.random() < 0.4 else {**machine, **_next_options(chance, kernels)}


def _next_options(chance: Chance, kernels: int) -> Table:
    """Draw options of the next machine, without those of the published one that exclude them."""
    queues, power = int(chance.choice([0, 4, 8])), not kernels & (kernels - 1)
    visited_filter = int(chance.choice([0, 64, 256])) * power
    return {
        "blocking_reservation": False,
        "bfs_only": False,
        "queued_requests": 0,
        "pair_reads": bool(chance.random() < 0.6),
        "lean_visits": bool(chance.random() < 0.6),
        "short_ring": bool(chance.random() < 0.6),
        "edge_chunk": int(chance.choice([0, 4, 16])),
        "link_queues": queues,
        "memory_ports": int(2 ** chance.integers(0, 5)) if queues else 0,
        "visited_filter": visited_filter,
        **({"remembered_ids": 0} if visited_filter else {}),
    }


def draw_machine(chance: Chance, seed: int, index: int) -> Table:
    """Draw the machine of a case: a known one, or one that the cases near its index share.

    Parameters
    ----------
    chance : numpy.random.Generator
        What a known one depends on.
    seed, index : int
        What a new one depends on.
    """
    if chance.random() < 0.3:
        return _new_machine(np.random.default_rng([seed, index // PER_MACHINE, 2]))
    return KNOWN[int(chance.choice(len(KNOWN), p=_SHARES))]


def _power(chance: Chance, most: int) -> int:
    return int(2 ** chance.integers(0, most + 1))


def _banks(chance: Chance) -> Table:
    controllers, banks, links = _power(chance, 4), _power(chance, 8), _power(chance, 3)
    # As `cyscc.sim.memory.profiles.hc2` has them: the bits of a bank are neighbours of its controller's.
    highest = 3 + (controllers * banks).bit_length() - links.bit_length()
    link_bits = {"link_bit": int(chance.integers(3, min(highest, 13) + 1))} if highest >= 3 else {"links": 1}
    return {
        "controllers": controllers,
        "banks": banks,
        "links": links,
        "controller_bit": int(chance.integers(3, min(2 + banks.bit_length(), 13) + 1)),
        **link_bits,
    }


def draw_memory(chance: Chance) -> Table:
    """Draw a memory: one of the named ones, or one with parameters of its own."""
    kind = chance.random()
    if kind < 0.25:
        latency = int(chance.choice([1, 2, 3, 9, 75, 400, int(chance.integers(1, 1000))]))
        return {"profile": f"fixed:{latency}"}
    if kind < 0.5:
        return {"profile": f"stress:{int(chance.integers(2**31))}"}
    if kind < 0.7:
        return {"profile": "hc2"}
    flow = {"port_queue": (1, 64), "reads_in_flight": (1, 600), "writes_in_flight": (1, 600)}
    times = {"request_travel": (0, 100), "bank_busy": (1, 40), "response_travel": (0, 100), "flush_travel": (1, 100)}
    changed = {
        name: int(chance.integers(low, high + 1))
        for name, (low, high) in (flow | times).items()
        if chance.random() < 0.5
    }
    return {"profile": "hc2", **changed, **(_banks(chance) if chance.random() < 0.6 else {})}


def table_text(table: Table) -> str:
    """Return a table as TOML."""
    words = {True: "true", False: "false"}
    shown = {
        name: words[value] if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else value
        for name, value in table.items()
    }
    return "".join(f"{name} = {value}\n" for name, value in shown.items())
