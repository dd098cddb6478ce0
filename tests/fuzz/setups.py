"""Random machines and memories, as the tables of their TOML files."""

from random import Random
from typing import Any

from cyscc.hw.config import PRESETS
from tests.system.covering import COVERING, PUBLISHED

Table = dict[str, Any]
"""Keys and values of a TOML file."""

_PLAIN = vars(PRESETS["test"])

_DROPS = next(each for each in COVERING.values() if each.remembered_ids and each.finds_components)

SMALL: list[Table] = [
    {"preset": "test"},
    *(
        {"preset": "test"} | {name: value for name, value in vars(config).items() if value != _PLAIN[name]}
        for config in (
            next(each for each in COVERING.values() if each.remembered_ids and each.finds_components),
            PUBLISHED,
        )
    ),
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

COMMON: list[Table] = [SMALL[0]] * 2 + [SMALL[1], SMALL[2], SMALL[3], SMALL[3]] + KNOWN[1:5]
"""Those of runs, the simplest first: the small ones are quicker, and closer to their limits."""

_DEPTHS = ("frontier", "neighbour", "word", "visit", "reach", "colour", "unvisit")


def new_machine(chance: Random) -> Table:
    """Draw a machine that must be built, which takes half a minute."""
    kernels = chance.randint(1, 5)
    sizes = {f"{name}_depth": 2 ** chance.randint(2, 5) for name in _DEPTHS}
    machine: Table = {
        "preset": "test",
        "engines": chance.randint(1, 4),
        "bfs_kernels": kernels,
        "intersection_kernels": chance.randint(1, kernels),
        **sizes,
        "issue_interval": chance.randint(1, 2),
        "blocking_reservation": chance.random() < 0.3,
        "bfs_only": chance.random() < 0.15,
        "remembered_ids": chance.choice([0, 0, 8, 16, 64, 256]),
        "queued_requests": chance.choice([0, 0, 4, 32]),
        "ring_stages": chance.randint(1, 8),
        "link_cycles": chance.randint(1, 16),
    }
    return machine if chance.random() < 0.4 else {**machine, **_next_options(chance, kernels)}


def _next_options(chance: Random, kernels: int) -> Table:
    """Draw options of the next machine, without those of the published one that exclude them."""
    queues, power = chance.choice([0, 4, 8]), not kernels & (kernels - 1)
    visited_filter = chance.choice([0, 64, 256]) * power
    return {
        "blocking_reservation": False,
        "bfs_only": False,
        "queued_requests": 0,
        "pair_reads": chance.random() < 0.6,
        "lean_visits": chance.random() < 0.6,
        "short_ring": chance.random() < 0.6,
        "edge_chunk": chance.choice([0, 4, 16]),
        "link_queues": queues,
        "memory_ports": 2 ** chance.randint(0, 4) if queues else 0,
        "visited_filter": visited_filter,
        **({"remembered_ids": 0} if visited_filter else {}),
    }


def _banks(chance: Random) -> Table:
    controllers, banks, links = 2 ** chance.randint(0, 4), 2 ** chance.randint(0, 8), 2 ** chance.randint(0, 3)
    # As `cyscc.sim.memory.profiles.hc2` has them: the bits of a bank are neighbours of its controller's.
    highest = 3 + (controllers * banks).bit_length() - links.bit_length()
    link_bits = {"link_bit": chance.randint(3, min(highest, 13))} if highest >= 3 else {"links": 1}
    return {
        "controllers": controllers,
        "banks": banks,
        "links": links,
        "controller_bit": chance.randint(3, min(2 + banks.bit_length(), 13)),
        **link_bits,
    }


def draw_memory(chance: Random) -> Table:
    """Draw a memory: one of the named ones, or one with parameters of its own."""
    kind = chance.choice(["fixed", "hc2", "stress", "own"])
    if kind == "fixed":
        return {"profile": f"fixed:{chance.choice([1, 2, 3, 9, 75, 400, chance.randint(1, 1000)])}"}
    if kind == "stress":
        return {"profile": f"stress:{chance.randrange(2**31)}"}
    if kind == "hc2":
        return {"profile": "hc2"}
    flow = {"port_queue": (1, 64), "reads_in_flight": (1, 600), "writes_in_flight": (1, 600)}
    times = {"request_travel": (0, 100), "bank_busy": (1, 40), "response_travel": (0, 100), "flush_travel": (1, 100)}
    changed = {name: chance.randint(*limits) for name, limits in (flow | times).items() if chance.randrange(2)}
    return {"profile": "hc2", **changed, **(_banks(chance) if chance.randrange(2) else {})}


def table_text(table: Table) -> str:
    """Return a table as TOML."""
    words = {True: "true", False: "false"}
    shown = {
        name: words[value] if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else value
        for name, value in table.items()
    }
    return "".join(f"{name} = {value}\n" for name, value in shown.items())
