"""Overrides of single values of a configuration or a memory."""

import re

import pytest

from cyscc.host.specification.overrides import NO_OVERRIDES, Overrides
from cyscc.hw.config import PRESETS
from cyscc.sim.memory import Fixed, Hc2, parse_profile


def test_values_go_where_they_belong() -> None:
    texts = ["neighbour_depth = 64", "memory.bank_busy=20", "blocking_reservation=true", "clock_mhz=133.5"]
    changes = Overrides.parse(texts)
    expected = PRESETS["hc2"].replace(neighbour_depth=64, blocking_reservation=True, clock_mhz=133.5)
    assert changes.applied_to(PRESETS["hc2"]) == expected
    assert changes.applied_to_memory(Hc2()) == Hc2(bank_busy=20)
    assert Overrides.of(changes.values()) == changes
    assert changes.config_text("hc2") == "hc2 (neighbour_depth=64, blocking_reservation=true, clock_mhz=133.5)"
    assert changes.memory_text("hc2") == "hc2 (bank_busy=20)"


def test_values_are_applied_together() -> None:
    changes = Overrides.parse(["intersection_kernels=4", "bfs_kernels=4"])
    assert changes.applied_to(PRESETS["hc2"]) == PRESETS["hc2"].replace(intersection_kernels=4, bfs_kernels=4)


def test_no_change_leaves_everything() -> None:
    assert Overrides.parse([]) == NO_OVERRIDES
    assert NO_OVERRIDES.applied_to(PRESETS["test"]) is PRESETS["test"]
    assert NO_OVERRIDES.config_text("test") == "test"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["x"], "'x' is not KEY=VALUE"),
        (["=3"], "'=3' is not KEY=VALUE"),
        (["engines=1", "engines=2"], "'engines' is given twice"),
        (["engines="], "engines: '' is no value of TOML"),
        (["engines=two"], "engines: 'two' is no value of TOML"),
        (["engines=1\nlinks=2"], "engines: '1\\nlinks=2' is no value of TOML"),
        (["engines=" + "[" * 9999], f"engines: '{'[' * 9999}' is no value of TOML"),
    ],
)
def test_what_is_no_change(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Overrides.parse(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engine=1", r"unknown key 'engine': there are engines, .*, clock_mhz, memory\.KEY; did you mean engines\?"),
        ("engines=9", "engines must be an integer from 1 to 4, not 9"),
        ('engines="9"', "engines must be an integer from 1 to 4, not '9'"),
        ("clock_mhz=nan", "clock_mhz must be a number above 0 and at most 10000, not nan"),
    ],
)
def test_impossible_configurations(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Overrides.parse([text]).applied_to(PRESETS["hc2"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory.bank=1", r"memory key 'bank' is not known for profile 'hc2': choose from .*; did you mean banks\?"),
        ("memory.bank_busy=0", "memory bank_busy must be an integer from 1 to 10000, not 0"),
        ("memory.bank_busy=2.0", "memory bank_busy must be an integer from 1 to 10000, not 2.0"),
    ],
)
def test_impossible_memories(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Overrides.parse([text]).applied_to_memory(Hc2())


def test_a_changed_memory_is_read_as_it_is_shown() -> None:
    changes = Overrides.parse(["memory.links=1", "memory.bank_busy=20"])
    assert parse_profile(changes.memory_text("hc2")) == Hc2(links=1, bank_busy=20)
    assert parse_profile("fixed:75 (latency=80)") == Fixed(latency=80)
    with pytest.raises(ValueError, match=r"^memory key 'links' is not known for profile 'fixed': choose from latency$"):
        parse_profile("fixed:75 (links=1)")
