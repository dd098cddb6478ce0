"""Random machines and memories, as the tables of their TOML files."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from cyscc.hw.config import AcceleratorConfig, ConfigError
from tests.system.covering import COVERING, PUBLISHED, VALUES

Table = dict[str, Any]
"""Keys and values of a TOML file."""

_DROPS = next(each for each in COVERING.values() if each.remembered_ids and each.finds_components)

SMALL: list[Table] = [
    {"preset": "test"},
    *({"preset": "test", **vars(config)} for config in (_DROPS, PUBLISHED)),
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

_MORE: Mapping[str, Sequence[int]] = {
    "engines": (1, 2, 3, 4),
    "bfs_kernels": (1, 2, 3, 4, 5),
    "queued_requests": (0, 0, 4, 32),
    "remembered_ids": (0, 0, 8, 64, 256),
    "link_queues": (0, 0, 0, 4, 8),
    "memory_ports": (0, 0, 0, 1, 2, 4, 16),
    "visited_filter": (0, 64, 256),
    "edge_chunk": (0, 4, 16),
    "ring_stages": range(1, 9),
    "link_cycles": range(1, 17),
}
"""Values of options of which `tests.system.covering` has fewer."""


def new_machine(chance: Random) -> Table:
    """Draw a machine that must be built, which takes half a minute."""
    while True:
        machine: Table = {
            "preset": "test",
            **{name: chance.choice(values) for name, values in {**VALUES, **_MORE}.items()},
            **{f"{name}_depth": 2 ** chance.randint(2, 5) for name in _DEPTHS},
        }
        machine["intersection_kernels"] = chance.randint(1, machine["bfs_kernels"])
        # Most options of the published machine exclude most of the next one's.
        with suppress(ConfigError):
            AcceleratorConfig.from_mapping(machine)
            return machine


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
