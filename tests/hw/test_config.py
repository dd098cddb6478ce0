"""Configuration: presets, limits, files; messages that users meet are pinned with the command line."""

import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from cyscc.hw.accelerator import ring_turn
from cyscc.hw.config import PRESETS, AcceleratorConfig, ConfigError
from cyscc.sim.configuration import load_config

DEPTHS = [field.name for field in fields(AcceleratorConfig) if field.name.endswith("_depth")]


def refused(message: str) -> Any:
    return pytest.raises(ConfigError, match=f"^{re.escape(message)}$")


def test_presets() -> None:
    full = PRESETS["hc2"]
    assert (full.engines, full.bfs_kernels, full.intersection_kernels) == (4, 16, 8)
    assert (full.ports, full.total_bfs_kernels, full.total_intersection_kernels) == (16, 64, 32)
    assert (full.issue_interval, full.blocking_reservation, full.clock_mhz) == (1, False, 150.0)
    assert PRESETS["published"] == full.replace(issue_interval=2, blocking_reservation=True)
    assert PRESETS["published-bfs"] == PRESETS["published"].replace(bfs_only=True)
    for name in ("hc2", "published", "published-bfs", "fast"):
        assert PRESETS[f"{name}-1ae"] == PRESETS[name].replace(engines=1, ring_stages=4)
    assert full == AcceleratorConfig()
    vhdl = PRESETS["published-vhdl-1ae"]
    own = {
        field.name
        for field in fields(vhdl)
        if getattr(vhdl, field.name) != getattr(PRESETS["published-1ae"], field.name)
    }
    assert own == {"queued_requests", "frontier_depth", "neighbour_depth", "visit_depth"}
    levers = ("pair_reads", "lean_visits", "link_queues", "visited_filter", "edge_chunk", "short_ring")
    for name, config in PRESETS.items():
        assert {bool(getattr(config, lever)) for lever in levers} == {name.startswith("fast")}
        assert not config.remembered_ids
    fast = {field.name for field in fields(full) if getattr(PRESETS["fast"], field.name) != getattr(full, field.name)}
    assert fast == set(levers)


def test_make_synthesises_the_published_and_the_own_machine_in_full_size() -> None:
    listed = re.search(r"^SYNTHESISED := .*,([^,]*),\$\(CONFIG\)\)$", Path("Makefile").read_text(), re.MULTILINE)
    assert listed
    full = [name for name, config in PRESETS.items() if config.bfs_kernels == 16 and not config.bfs_only]
    assert listed[1].split() == full


@pytest.mark.parametrize("name", ["hc2", "published", "published-bfs"])
def test_a_turn_of_the_ring_takes_twenty_cycles_on_one_engine_and_a_hundred_on_four(name: str) -> None:
    assert ring_turn(PRESETS[f"{name}-1ae"]) == 20
    assert ring_turn(PRESETS[name]) == 104


def test_a_turn_past_stations_takes_five_cycles_on_one_engine_and_forty_four_on_four() -> None:
    assert ring_turn(PRESETS["fast-1ae"]) == 5
    assert ring_turn(PRESETS["fast"]) == 44


LIMITS = [
    ("engines", 1, 4),
    ("issue_interval", 1, 2),
    ("ring_stages", 1, 64),
    ("link_cycles", 1, 1024),
    ("remembered_ids", 0, 4096),
    ("queued_requests", 0, 512),
    ("edge_chunk", 0, 4096),
    *((name, 4, 512) for name in DEPTHS),
]


@pytest.mark.parametrize(("name", "low", "high"), LIMITS)
def test_limits(name: str, low: int, high: int) -> None:
    for value in (low, high):
        assert getattr(AcceleratorConfig().replace(**{name: value}), name) == value
    for value in (low - 1, high + 1, -high):
        with refused(f"{name} must be an integer from {low} to {high}, not {value}"):
            AcceleratorConfig().replace(**{name: value})


_POWERS = (
    *((name, 4, "a power of two", (5, 12, 511)) for name in DEPTHS),
    ("remembered_ids", 8, "0 or a power of two from 8 on", (1, 4, 12, 4095)),
    ("queued_requests", 4, "0 or a power of two from 4 on", (1, 2, 12, 511)),
    ("edge_chunk", 4, "0 or a power of two from 4 on", (2, 48)),
    ("visited_filter", 64, "0 or a power of two from 64 on", (32, 96)),
)


@pytest.mark.parametrize(("name", "least", "power", "values"), _POWERS)
def test_powers_of_two(name: str, least: int, power: str, values: tuple[int, ...]) -> None:
    assert getattr(AcceleratorConfig().replace(**{name: least}), name) == least
    for value in values:
        with refused(f"{name} must be {power}, not {value}"):
            AcceleratorConfig().replace(**{name: value})


_CHUNKS, _FILTER, _LEAN = {"edge_chunk": 64}, {"visited_filter": 64}, {"lean_visits": True}
_PUBLISHED: tuple[tuple[str, int], ...] = (("blocking_reservation", True), ("queued_requests", 4), ("bfs_only", True))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        *(
            ({name: value}, f"{name} must be an integer from 1 to 16, not {value}")
            for name in ("bfs_kernels", "intersection_kernels")
            for value in (0, 17)
        ),
        (
            {"bfs_kernels": 3, "intersection_kernels": 4},
            "intersection_kernels must be at most bfs_kernels (3), whose ports they share, not 4",
        ),
        (
            {"pair_reads": True, "queued_requests": 16},
            "pair_reads needs queued_requests of 0, not 16: a kernel with FIFOs of requests reads ids one by one",
        ),
        ({"visited_filter": 1 << 23}, "visited_filter must be an integer from 0 to 4194304, not 8388608"),
        (
            {**_FILTER, "bfs_kernels": 12, "intersection_kernels": 8},
            "visited_filter needs bfs_kernels to be a power of two, not 12: bits of an id tell the kernel that owns it",
        ),
        *(({**_CHUNKS, name: value}, f"edge_chunk must be 0 with {name}, not 64") for name, value in _PUBLISHED),
        *(({**_LEAN, name: value}, f"lean_visits and {name} cannot be set together") for name, value in _PUBLISHED),
    ],
)
def test_values_that_a_machine_cannot_have(values: dict[str, int], message: str) -> None:
    with refused(message):
        AcceleratorConfig().replace(**values)


@pytest.mark.parametrize("name", [field.name for field in fields(AcceleratorConfig)])
def test_values_have_the_types_of_their_keys(name: str) -> None:
    wrong = 1 if isinstance(getattr(AcceleratorConfig(), name), bool) else True
    for value in (wrong, "4", None, *([] if name == "clock_mhz" else [4.0])):
        with pytest.raises(ConfigError, match=f"^{name} must be .*, not {value!r}$"):
            AcceleratorConfig().replace(**{name: value})


@pytest.mark.parametrize("value", [0, -1.5, 10_000.1, float("nan"), float("inf")])
def test_clock_is_a_sensible_number(value: object) -> None:
    with refused(f"clock_mhz must be a number above 0 and at most 10000, not {value!r}"):
        AcceleratorConfig().replace(clock_mhz=value)


@pytest.mark.parametrize("value", [0.001, 150, 10_000])
def test_clock_at_its_limits(value: float) -> None:
    assert AcceleratorConfig(clock_mhz=value).clock_mhz == value


def test_replace_validates_and_leaves_the_original() -> None:
    config = AcceleratorConfig()
    assert config.replace(engines=2).engines == 2
    assert config.engines == 4
    with refused("engines must be an integer from 1 to 4, not 5"):
        config.replace(engines=5)


def test_a_configuration_is_frozen() -> None:
    config = AcceleratorConfig()
    with pytest.raises(FrozenInstanceError):
        config.engines = 2  # type: ignore[misc]


def test_from_mapping() -> None:
    assert AcceleratorConfig.from_mapping({}) == PRESETS["hc2"]
    values = {"preset": "test", "engines": 1, "clock_mhz": 100}
    assert AcceleratorConfig.from_mapping(values) == PRESETS["test"].replace(engines=1, clock_mhz=100)
    assert values["preset"] == "test", "the mapping is the caller's"


def test_from_mapping_refuses_a_preset_that_is_no_name() -> None:
    with pytest.raises(ConfigError, match=r"^unknown preset \['hc2'\]: "):
        AcceleratorConfig.from_mapping({"preset": ["hc2"]})


@pytest.mark.parametrize("name", list(PRESETS))
def test_load_finds_presets(name: str) -> None:
    assert load_config(name) is PRESETS[name]


def test_load_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text('preset = "test"\nengines = 1\nblocking_reservation = true\nclock_mhz = 120.5\n')
    expected = PRESETS["test"].replace(engines=1, blocking_reservation=True, clock_mhz=120.5)
    assert load_config(str(path)) == expected


def test_load_says_that_there_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "absent.toml"
    with refused(f"{path}: No such file or directory"):
        load_config(str(path))
    directory = tmp_path / "folder.toml"
    directory.mkdir()
    with refused(f"{directory}: Is a directory"):
        load_config(str(directory))


@pytest.mark.parametrize("name", ["", "HC2", "machine.json"])
def test_load_refuses_other_names(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^unknown configuration {name!r}: "):
        load_config(name)


def test_capabilities() -> None:
    searches, filters = PRESETS["published-bfs"], PRESETS["hc2"].replace(remembered_ids=8)
    PRESETS["hc2"].require("finds_components", "keeps_reach_queue")
    filters.require("finds_components", "keeps_reach_queue")
    with refused("published-bfs only searches: it keeps no reach queue to intersect"):
        searches.require("finds_components", name="published-bfs")
    with refused("the machine only searches: it keeps no reach queue"):
        searches.require("keeps_reach_queue")


def test_a_filter_of_visited_vertices_needs_owners_and_no_other_filter() -> None:
    filters = AcceleratorConfig().replace(visited_filter=64)
    assert (filters.exchange_kernels, AcceleratorConfig().exchange_kernels) == (16, 0)
    for other, value in (("remembered_ids", 8), ("queued_requests", 16), ("blocking_reservation", True)):
        with pytest.raises(ConfigError, match=f"^visited_filter and {other} exclude each other: "):
            filters.replace(**{other: value})
        filters.replace(**{other: value}, visited_filter=0)


def test_sizes_that_follow() -> None:
    for kernels in (1, 16):
        config = AcceleratorConfig(bfs_kernels=kernels, intersection_kernels=kernels)
        assert config.intersection_kernels == config.ports == kernels
    chunks = AcceleratorConfig().replace(edge_chunk=64)
    assert (AcceleratorConfig().queue_entries(10, 1000), chunks.queue_entries(10, 1000)) == (10, 25)


def test_limits_are_read_from_the_types() -> None:
    assert {name: AcceleratorConfig.limits(name) for name, *_ in LIMITS} == {name: (a, b) for name, a, b in LIMITS}
