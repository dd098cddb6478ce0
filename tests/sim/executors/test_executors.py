"""Executors give the same, and so does the state that is carried between them."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import rmat_graph
from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import Executor
from cyscc.sim.executors.spells import SpellRequest
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.causes import WORK
from tests.sim.executors.outcomes import CROWD, TANGLE, Outcome, assert_equal, outcome
from tests.system.graphs import GRAPHS
from tests.system.pinned import RUNS, PinnedRun, pins, slowly
from tests.system.runs import check_scc, made


def compared(
    config: str | AcceleratorConfig, memory: str, *runs: tuple[Graph, int | None], counters: bool = True
) -> list[Outcome]:
    """Make runs on a machine of each executor, and check that they leave the same; return what."""
    found = []
    for executor in ("amaranth", "compiled"):
        with made(config, memory, executor=executor, cycle_limit=100_000) as machine:
            found.append([outcome(machine, graph, source=source, counters=counters) for graph, source in runs])
    for first, second in zip(*found, strict=True):
        assert_equal(first, second)
    return found[0]


def is_long(run: PinnedRun) -> bool:
    """Return whether others show the same, on the other machine or with other memories."""
    return run.memory in ("fixed:75", "fixed:400", "stress:5") or (run.preset, run.memory) == ("fast-test", "fixed:9")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run, id=run.name, marks=pytest.mark.long if is_long(run) else ())
        for run in RUNS
        if run.everywhere or run.name == "components and search, fixed:400"
    ],
)
def test_both_executors(run: PinnedRun) -> None:
    found = []
    for make in (slowly(run), made(run.preset, run.memory)):
        with make as machine:
            assert run.trace(machine).agrees(pins()[run.name])
            found.append(machine.statistics())
    assert found[0] == found[1]
    if "search" in run.name:
        counters = found[0]["counters"]["intersection"]
        assert min(counters["pushed"], counters["items"]) > 0
        causes = found[0]["causes"]["bfs"]
        assert min(causes[cause] for cause in ("idle", "response", "flush", "slot", *WORK)) > 0
        switched = run.preset == "fast-test"
        assert (causes["credit"] > 0) == (switched or run.memory != "fixed:1"), (
            "what is answered at once lacks no place"
        )
        assert (causes["refused"] > 0) == run.memory.startswith("stress")


@pytest.mark.long
@pytest.mark.parametrize(("config", "memory"), [("hc2-1ae", "hc2"), ("published-1ae", "fixed:1")])
def test_whole_engine_on_both_executors(config: str, memory: str) -> None:
    (search,) = compared(config, memory, (CROWD, 0), counters=False)
    assert search.statistics["memory"]["writes"]["total"] > 0
    compared(config, "hc2", (TANGLE, None))


@pytest.mark.parametrize("memory", ["hc2", "fixed:1", "stress"])
def test_threads_change_nothing(memory: str) -> None:
    graph = rmat_graph(256, 4, seed=1)
    outcomes = []
    for threads in (1, 2, 4, 9):
        with made("hc2", memory, threads=threads) as machine:
            outcomes.append(outcome(machine, graph))
    for each in outcomes[1:]:
        assert_equal(outcomes[0], each)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux shows threads")
@pytest.mark.parametrize("threads", [1, 2])
def test_no_more_threads_than_asked_for(threads: int) -> None:
    before = set(os.listdir("/proc/self/task"))
    with made("test", "fixed:75", threads=threads):
        # Threads of earlier tests may end meanwhile, and others come and go: those that stay are the machine's.
        end = time.monotonic() + 5
        while len(more := set(os.listdir("/proc/self/task")) - before) > threads - 1 and time.monotonic() < end:
            time.sleep(0.01)
        assert len(more) == threads - 1


def test_seed_of_the_memory_makes_a_difference() -> None:
    with made("test", "stress:3") as first, made("test", "stress:4") as second:
        assert outcome(first, TANGLE).instructions != outcome(second, TANGLE).instructions


def test_machines_of_one_process_are_independent() -> None:
    with made("test", "hc2") as alone:
        expected = outcome(alone, TANGLE)
    with made("test", "hc2") as first, made("test", "hc2") as second, made("hc2", "stress", threads=2) as third:
        check_scc(second, CROWD)
        assert_equal(outcome(first, TANGLE), expected)
        check_scc(third, CROWD)
        second.close()
        check_scc(first, GRAPHS["ladder"])


def test_later_runs_of_a_machine_are_as_long_as_its_first() -> None:
    with made("published-1ae", "fixed:75") as machine:
        first, second = (outcome(machine, TANGLE).instructions for _ in range(2))
    assert first == second


@pytest.mark.parametrize("executor", ["compiled", "amaranth"])
def test_state_of_other_hardware_is_refused(executor: str) -> None:
    with made("test", "fixed:75", executor=executor) as machine:
        state = machine.save()
        (memory,) = (field for field in state.hardware.fields if field.name == "engine1.bfs0.visitor.fifo.fifo.storage")
        other = NamedWords.zeros([*state.hardware.fields, replace(memory, rows=memory.rows + 1)])
        with pytest.raises(ValueError, match=rf"^{memory.name} has {memory.rows} rows, not {memory.rows + 1}$"):
            machine._executor.load(other)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Executor.record(None, 1, 1), "exported hardware does not tell what its kernels do"),  # type: ignore[arg-type]
        (lambda: Executor.sample(None), "exported hardware does not tell what its kernels do"),  # type: ignore[arg-type]
        (lambda: Executor.log_spells(None, SpellRequest()), "this executor cannot log spells"),  # type: ignore[arg-type]
        (lambda: Executor.take_spells(None), "this executor cannot log spells"),  # type: ignore[arg-type]
        (lambda: Executor.take_accesses(None), "this executor cannot log accesses"),  # type: ignore[arg-type]
        (lambda: Executor.open_reads(None), "this executor cannot log accesses"),  # type: ignore[arg-type]
    ],
)
def test_what_an_executor_cannot_do_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(NotImplementedError, match=f"^{message}$"):
        call()


def test_memory_with_other_allocations_is_refused() -> None:
    with made("test", "fixed:75") as machine:
        state = machine.memory.save()
        machine.allocate(8)
        with pytest.raises(ValueError, match=r"^the memory has other allocations$"):
            machine.memory.load(state)


def test_memory_of_another_size_is_refused() -> None:
    with made("test", "fixed:75") as machine, made("test", "fixed:400") as other:
        with pytest.raises(ValueError, match=r"^the memory's records have other sizes$"):
            other.memory.load(machine.memory.save())


def test_allocations_that_are_left_out() -> None:
    with made("test", "fixed:75") as machine:
        first, second, third = (machine.allocate(size) for size in (100, 2000, 8))
        machine.view(second, "u1", 2000)[:] = 1
        regions = machine.memory.save(without=[second]).regions
        assert [(region.address, region.content.size) for region in regions] == [
            (first, second - first),
            (second + 2000, third + 8 - second - 2000),
        ]
        assert not any(region.content.any() for region in regions)
