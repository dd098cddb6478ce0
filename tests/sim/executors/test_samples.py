"""Samples at exact multiples of an interval, and spells: the same on both executors, whatever the sync points."""

from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.hw.config import PRESETS, ConfigError
from cyscc.sim.coprocessor import Cause
from cyscc.sim.executors.samples import MODULES, MOST_HELD, Samples, fifos, sample_dtype
from cyscc.sim.executors.spells import SpellRequest
from cyscc.sim.machine import Machine
from cyscc.sim.observation.state import MachineState
from tests.sim.executors.outcomes import TANGLE, assert_equal, dispatch_level, outcome
from tests.system.runs import made

CONFIG = PRESETS["test"]
MEMORY = "fixed:9"
LEAST = 2
"""Cycles of the shortest spell in a level."""


def record(machine: Machine, *, interval: int, places: int = 2000) -> Samples:
    """Record a machine."""
    return machine._executor.record(interval, places)


@pytest.fixture(scope="module")
def every_cycle() -> npt.NDArray[Any]:
    """Return what Amaranth's simulator counts in a run, a row for each cycle."""
    with made("test", MEMORY, executor="amaranth") as machine:
        samples = record(machine, interval=1)
        outcome(machine, TANGLE, counters=False)
        return samples.take(machine.cycle)


def expected_rows(every_cycle: npt.NDArray[Any], interval: int) -> npt.NDArray[Any]:
    """Return the rows at the multiples of an interval."""
    ends = np.arange(interval - 1, every_cycle.shape[1], interval)
    rows = every_cycle[:, ends].copy()
    for module in MODULES:
        most = every_cycle[module]["interval_most"]
        for place, end in enumerate(ends):
            rows[module]["interval_most"][:, place] = most[:, end + 1 - interval : end + 1].max(axis=1)
    return rows


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("interval", [1, 7, 64, 1000])
def test_executors_sample_the_same(every_cycle: npt.NDArray[Any], interval: int, threads: int) -> None:
    with made("test", MEMORY, threads=threads) as machine:
        samples = record(machine, interval=interval)
        outcome(machine, TANGLE, counters=False)
        rows = samples.take(machine.cycle)
    assert rows.shape == (2, every_cycle.shape[1] // interval)
    assert rows["cycle"].tolist() == [[interval * (n + 1) for n in range(rows.shape[1])]] * 2
    assert np.array_equal(rows, expected_rows(every_cycle, interval))


def test_samples_are_the_same_with_waveforms(every_cycle: npt.NDArray[Any], tmp_path: Path) -> None:
    with made("test", MEMORY, waves=tmp_path / "run.vcd", wave_window=(100, 300)) as machine:
        samples = record(machine, interval=7)
        outcome(machine, TANGLE, counters=False)
        assert np.array_equal(samples.take(machine.cycle), expected_rows(every_cycle, 7))


def test_what_a_run_shows(every_cycle: npt.NDArray[Any]) -> None:
    last = every_cycle[:, -1]
    for module in MODULES:
        rows = every_cycle[module]
        assert (rows["causes"].sum(axis=-1) == every_cycle["cycle"][..., np.newaxis]).all(), "one cause a cycle"
        depths = [getattr(CONFIG, fifo.parameter) for fifo in fifos(CONFIG)[module]]
        assert (rows["interval_most"] <= np.add(depths, 2)).all()
        assert rows["interval_most"].max() > 3
        held = np.diff(rows["fill"], axis=1, prepend=0)
        assert np.array_equal(held, rows["interval_most"]), "of one cycle, the sum is the most"
        assert np.array_equal(np.maximum.accumulate(held, axis=1), rows["instruction_most"])
        running = np.diff(rows["causes"][..., 0], axis=1, prepend=0) == 0
        assert np.array_equal(running, rows["begun"] > rows["ended"])
        began = running & ~np.roll(running, 1, axis=1)
        engines, cycles, kernels = np.nonzero(began)
        assert (rows["begun"][engines, cycles, kernels] == cycles).all()
        assert len(cycles) >= 2
        assert (last[module]["ended"] > last[module]["begun"]).all(), "all is done"
    assert (last["turns"]["bfs"] > 10).all()
    assert (last["turns"]["intersection"] > 1).all()


def test_recording_disturbs_nothing() -> None:
    with made("test", "hc2") as machine:
        expected = outcome(machine, TANGLE)
    with made("test", "hc2") as machine:
        record(machine, interval=5, places=1)
        assert_equal(outcome(machine, TANGLE), expected)


class Level(NamedTuple):
    """What a level leaves behind, besides the state in its middle; last, the spells that its end interrupts."""

    states: list[MachineState]
    rows: npt.NDArray[Any]
    end: npt.NDArray[Any]
    spells: list[tuple[int, ...]]
    under_way: list[tuple[int, ...]]


def level(executor: str, state: MachineState | None = None) -> Level:
    """Execute a level, from a state in its middle if one is given."""
    states: list[MachineState] = []
    with made("test", "fixed:75", executor=executor) as machine:
        samples = record(machine, interval=7)
        machine.executor.log_spells(SpellRequest(least=LEAST))
        dispatch_level(machine)
        if state is not None:
            machine.load(state)

        def look(cycle: int) -> int:
            if cycle >= 150 and not states:
                states.append(deepcopy(machine.save()))  # of the memory it has but a view
            return 150 - cycle if cycle < 150 else 1000

        machine.on_sync = look
        machine.wait()
        spells = sorted(machine.executor.take_spells().tolist())
        under_way = sorted(machine.executor.take_spells(under_way=True).tolist())
        return Level(states, samples.take(machine.cycle), machine._executor.sample(), spells, under_way)


def test_what_is_saved_and_loaded_goes_on_the_same() -> None:
    whole = level("compiled")
    (state,) = whole.states
    assert whole.end["bfs"]["fill"].any()
    assert len(whole.under_way) == 2 * 3, "every kernel is idle"
    for executor, given in (("amaranth", None), ("compiled", state), ("amaranth", state)):
        own = level(executor, given)
        assert np.array_equal(own.rows, whole.rows[:, -own.rows.shape[1] :])
        assert len(whole.rows[0]) - len(own.rows[0]) == (150 // 7 if given else 0)
        for part in (own, level("compiled", own.states[0])):
            assert np.array_equal(part.rows, whole.rows[:, -part.rows.shape[1] :])
            assert np.array_equal(part.end, whole.end)
        begun = given.hardware.signed("machine.cycle") if given else 0
        assert own.spells == since(whole.spells, begun)
        assert own.under_way == since(whole.under_way, begun)


def since(spells: list[tuple[int, ...]], cycle: int) -> list[tuple[int, ...]]:
    """Return the spells that are logged from a cycle on."""
    later = [(*who, max(begin, cycle), end) for *who, begin, end in spells]
    return sorted(spell for spell in later if spell[-1] - spell[-2] >= LEAST)


def test_numbers_as_of_now(every_cycle: npt.NDArray[Any]) -> None:
    for executor in ("compiled", "amaranth"):
        with made("test", MEMORY, executor=executor) as machine:
            samples = record(machine, interval=64)
            outcome(machine, TANGLE, counters=False)
            row = machine._executor.sample()
            assert np.array_equal(machine._executor.sample(), row), "to look changes nothing"
            assert row["cycle"].tolist() == [machine.cycle] * 2
            rows = samples.take(machine.cycle)
            machine._executor.begin_instruction_marks()
            after = machine._executor.sample()
            for module in MODULES:
                assert not after[module]["instruction_most"].any()
                assert np.array_equal(after[module]["fill"], every_cycle[:, -1][module]["fill"])
                assert np.array_equal(after[module]["interval_most"], row[module]["interval_most"])
                assert (row[module]["instruction_most"] >= rows[module]["instruction_most"][:, -1]).all()


def test_ring() -> None:
    samples = Samples(CONFIG, interval=10, places=3, cycle=25)
    assert samples.limit == 60
    assert samples.take(29).shape == (2, 0)
    samples.rows["cycle"] = [[30, 40, 50]] * 2
    assert samples.waiting(49) == 2
    assert samples.take(49)["cycle"].tolist() == [[30, 40]] * 2
    assert samples.take(59)["cycle"].tolist() == [[50]] * 2
    assert samples.limit == 90
    with pytest.raises(ValueError, match=r"^4 rows of samples wait, and 3 have a place: some are lost$"):
        samples.take(90)
    samples.restart(1000)
    assert samples.waiting(1009) == 0


@pytest.mark.parametrize(("interval", "places"), [(0, 1), (1, 0)])
def test_impossible_rings(interval: int, places: int) -> None:
    with pytest.raises(ValueError, match=f"^interval and places must be at least 1, not {interval} and {places}$"):
        Samples(CONFIG, interval=interval, places=places, cycle=0)


def test_every_fifo_has_a_depth() -> None:
    assert MOST_HELD == 514
    for config in PRESETS.values():
        for module, its in fifos(config).items():
            assert sample_dtype(config)[module].base["fill"].shape == (len(its),)
            assert all(getattr(config, fifo.parameter) >= 4 for fifo in its)
            with pytest.raises(ConfigError):
                config.replace(**dict.fromkeys((fifo.parameter for fifo in its), 1024))
    assert fifos(PRESETS["published-bfs"])["bfs"][-1][:2] == ("marks", "visit_depth")


ABOVE = {"bfs": (9, 9, 9, 1), "intersection": (9, 1, 0)}
REQUESTS = [
    SpellRequest(),
    SpellRequest(least=5),
    SpellRequest(least=3, causes=(Cause.SLOT, Cause.ISSUE_3)),
    SpellRequest(limits=ABOVE),
    SpellRequest(least=4, limits=ABOVE),
]


def expected_spells(rows: npt.NDArray[Any], request: SpellRequest) -> list[tuple[int, ...]]:
    """Return the spells in a run, without those under way at its end."""
    shown = []
    for module in MODULES:
        its = rows[module]
        if request.limits is None:
            shown.append(np.diff(its["causes"], axis=1, prepend=0).argmax(axis=-1))
        else:
            held = np.diff(its["fill"], axis=1, prepend=0)
            shown.append((held > request.limits[module]).any(axis=-1))
    spells = []
    for engine, its in enumerate(np.concatenate(shown, axis=-1).astype(int)):
        for kernel, numbers in enumerate(its.T):
            changes = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()]
            for begin, end in pairwise(changes):
                number = int(numbers[begin])
                wanted = number == 1 if request.limits is not None else number in request.causes
                if wanted and end - begin >= request.least:
                    spells.append((engine, kernel, number, begin, end))
    return sorted(spells)


def logged(machine: Machine, request: SpellRequest, looks: int | None = None) -> list[tuple[int, ...]]:
    """Return the spells that a machine logs in a run, taken at its end or every few cycles."""
    executor = machine.executor
    executor.log_spells(request)
    taken = []

    def look(_: int) -> int:
        taken.append(executor.take_spells())
        return looks or 1

    if looks is not None:
        machine.on_sync = look
    outcome(machine, TANGLE, counters=False)
    taken.append(executor.take_spells())
    assert not len(executor.take_spells())
    return sorted(spell for spells in taken for spell in spells.tolist())


@pytest.mark.parametrize(("threads", "looks"), [(1, None), (2, 100)])
@pytest.mark.parametrize("request_", REQUESTS)
def test_what_is_logged(every_cycle: npt.NDArray[Any], request_: SpellRequest, threads: int, looks: int | None) -> None:
    expected = expected_spells(every_cycle, request_)
    assert len(expected) > 3
    with made("test", MEMORY, threads=threads) as machine:
        assert logged(machine, request_, looks) == expected
        assert machine.cycle == every_cycle.shape[1]


def test_room_for_every_spell(every_cycle: npt.NDArray[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.sim.executors.compiled.executor._SPELL_CYCLES", 1)
    with made("test", MEMORY) as machine:
        assert logged(machine, SpellRequest()) == expected_spells(every_cycle, SpellRequest())
