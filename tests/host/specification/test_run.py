"""The specification of a run: everything that derives from its fields, and refusals."""

import json
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.specification.numbers import whole_number
from cyscc.host.specification.overrides import Overrides
from cyscc.host.specification.run import (
    ALGORITHMS,
    ComponentArguments,
    RunSpec,
    SearchArguments,
    option_of,
    run_options,
)
from cyscc.sim.configuration import PRESETS
from cyscc.sim.memory import parse_profile
from tests.conftest import Pins
from tests.refusals import refused

SPEC = RunSpec(algorithm="bfs", graph="g.txt", source=3, config="test", memory="fixed:9", threads=1, record="there")

OTHER: dict[str, Any] = {
    "algorithm": "scc",
    "graph": "h.txt",
    "labels": "l.txt",
    "source": 4,
    "levels": "v.txt",
    "roofline": True,
    "roofline_plot": "r.svg",
    "config": "hc2-1ae",
    "memory": "hc2",
    "executor": "amaranth",
    "overrides": Overrides.of({"word_depth": 32}),
    "threads": 2,
    "verify": False,
    "undirected": True,
    "simplify": True,
    "cycle_limit": 5,
    "queue_slack": 0,
    "waves": "w.vcd",
    "wave_window": (1, 2),
    "scopes": ("*.token",),
    "wave_view": True,
    "checkpoint": "kept",
    "checkpoint_every": "2s",
    "resume": "before",
    "record": "seen",
    "record_interval": 16,
    "record_detail": "level=3",
    "record_detail_interval": 32,
    "trace": "t.pftrace",
    "live": "-",
    "live_every": "2s",
}
"""For every field another value than `SPEC` has."""

BESIDES: dict[str, dict[str, Any]] = {
    "algorithm": {"source": None},
    "labels": {"algorithm": "scc", "source": None},
    "roofline_plot": {"roofline": True},
    "wave_window": {"waves": "w.vcd"},
    "scopes": {"waves": "w.vcd"},
    "wave_view": {"waves": "w.vcd"},
    "checkpoint_every": {"checkpoint": "kept"},
    "record_detail_interval": {"record_detail": "level=0"},
    "live_every": {"live": "-"},
}
"""Requirements of a field on other fields."""

NAMES = [each.name for each in fields(RunSpec)]


def changed(name: str) -> RunSpec:
    return replace(SPEC, **BESIDES.get(name, {}), **{name: OTHER[name]})


def test_every_field_is_described() -> None:
    assert list(OTHER) == NAMES
    options = [option_of(name) for name in NAMES]
    assert len({option.flag for option in options}) == len({option.name for option in options}) == len(NAMES)
    assert all(option.help and "{" not in option.help for option in options)
    assert {name for name in NAMES if name not in run_options("scc")} == {
        "source",
        "levels",
        "roofline",
        "roofline_plot",
    }
    assert {name for name in NAMES if name not in run_options("bfs")} == {"labels"}


SAID: tuple[str, ...] = ("low", "high", "switch", "choices", "repeated", "positional", "path")
SAID += ("affects_result", "stored", "varies", "changeable")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_fields_is_as_pinned(name: str, pins: Pins) -> None:
    said = {each: getattr(option_of(name), each) for each in SAID}
    pins.check(name, {**said, "choices": list(said["choices"])})


def test_texts_of_values_are_read() -> None:
    assert option_of("threads").read("1e3") == 1000
    assert option_of("wave_window").read("1:2e1") == (1, 20)
    assert option_of("checkpoint_every").read("2s") == "2s"
    assert option_of("record").read("seen") == "seen"


def test_keywords_are_the_fields() -> None:
    for algorithm, arguments in (("scc", ComponentArguments), ("bfs", SearchArguments)):
        assert set(arguments.__annotations__) == run_options(algorithm).keys() - {"algorithm", "graph", "source"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_comes_back(name: str) -> None:
    spec = changed(name)
    kept = json.loads(json.dumps(spec.document()))
    values = RunSpec.stored_values(kept, Path.cwd())
    assert set(values) == {each for each, option in run_options(spec.algorithm).items() if option.stored}
    assert (values.get(name) == OTHER[name]) == option_of(name).stored


def test_files_are_found_from_another_folder(tmp_path: Path) -> None:
    kept = replace(SPEC, record="seen", config=str(tmp_path / "own.toml"), memory="own.py").document()
    values = RunSpec.stored_values(kept, tmp_path)
    assert (values["graph"], values["record"]) == (str(tmp_path / "g.txt"), str(tmp_path / "seen"))
    assert (values["config"], values["memory"]) == (str(tmp_path / "own.toml"), str(tmp_path / "own.py"))
    assert RunSpec.stored_values(SPEC.document(), tmp_path)["config"] == "test"


@pytest.mark.parametrize("name", NAMES)
def test_what_decides_is_part_of_the_identity(name: str) -> None:
    """Of the graph its digest decides, of `simplify` what it makes of that."""
    same = changed(name).identity("digest") == replace(SPEC, **BESIDES.get(name, {})).identity("digest")
    option = option_of(name)
    decides = not option.changeable or name in ("config", "memory", "overrides")
    assert same != decides
    assert SPEC.identity("digest") != SPEC.identity("another")


@pytest.mark.parametrize("name", NAMES)
def test_what_varies_makes_another_point(name: str) -> None:
    same = changed(name).varied() == replace(SPEC, **BESIDES.get(name, {})).varied()
    assert same != (option_of(name).varies or name == "overrides")


def test_recorded_runs_have_an_interval() -> None:
    assert SPEC.record_interval == 1024
    assert replace(SPEC, record=None, record_interval=None).record_interval is None
    assert replace(SPEC, record=None, record_interval=None, trace="t").record_interval == 1024


def test_documents_have_what_decides() -> None:
    assert SPEC.result_options() == {
        "algorithm": "bfs",
        "source": 3,
        "undirected": False,
        "simplify": False,
        "queue_slack": None,
    }
    assert set(replace(SPEC, algorithm="scc", source=None).result_options()) == {
        *("algorithm", "undirected", "simplify", "queue_slack")
    }


def test_machine_by_name_or_by_value() -> None:
    named = replace(SPEC, config="test", overrides=Overrides.of({"word_depth": 32, "memory.latency": 7}))
    assert named.configuration == PRESETS["test"].replace(word_depth=32)
    assert named.profile == parse_profile("fixed:7")
    assert named.machine_text == "test (word_depth=32), memory fixed:9 (latency=7)"
    given = replace(SPEC, config=PRESETS["hc2"], memory=parse_profile("fixed:5"))
    assert (given.config_name, given.memory_name) == ("hc2", parse_profile("fixed:5").name)
    assert replace(SPEC, config=PRESETS["hc2"].replace(word_depth=32)).config_name == "own"
    assert given.configuration is PRESETS["hc2"]


def test_another_process_is_given_the_fields_alone() -> None:
    spec = replace(SPEC, overrides=Overrides.of({"word_depth": 32}))
    assert spec.configuration is spec.configuration, "made once"
    copy = pickle.loads(pickle.dumps(spec))
    assert copy == spec
    assert "configuration" not in vars(copy)
    assert copy.configuration == spec.configuration


def test_numbers_and_windows_as_texts() -> None:
    assert [whole_number(text, low=0) for text in ("7", "1e3", "2^10", "0")] == [7, 1000, 1024, 0]
    for text in ("x", "1.5", "2^x", ""):
        with refused(ValueError, f"{text!r} is not an integer"):
            whole_number(text, low=0)
    assert [whole_number(text, low=3, high=8) for text in ("3", "8")] == [3, 8]
    for text, message in (("2", "at least 3, not 2"), ("9", "at most 8, not 9"), ("2^4", "at most 8, not 2^4")):
        with refused(ValueError, f"must be {message}"):
            whole_number(text, low=3, high=8)
    assert whole_number("2^64", low=0) == 1 << 64
    with refused(ValueError, f"must be at most {1 << 64}, not 2^65"):
        whole_number("2^65", low=0)
    assert ALGORITHMS == ("bfs", "scc")
