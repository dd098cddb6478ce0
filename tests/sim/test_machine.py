"""The simulated machine, its signals as a graph, and words of its registers."""

import gc
import json
import re
import weakref
from functools import partial
from itertools import count
from typing import cast

import numpy as np
import pytest

from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS
from cyscc.hw.registers import KernelWord, kernel_register
from cyscc.sim.coprocessor import Instruction, Register, Status
from cyscc.sim.errors import CycleLimitError, MemoryAccessError, SimulationError
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.hardware import chunk_words, chunks_of
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import parse_profile
from cyscc.sim.named_words import Field, NamedWords
from cyscc.sim.observation.causes import WORK
from tests.sim.executors.outcomes import CROWD, dispatch_level
from tests.system.graphs import GRAPHS
from tests.system.runs import check_bfs, made, search
from tests.words import graph_word

UNKNOWN = cast(Instruction, 7)
"""An instruction that does not exist."""

ALL = 2**64 - 1

STUCK = """\
engine 0: busy, N cycles since its dispatch
engine 1: idle, N cycles since its dispatch
engine 0 bfs kernel 0: state done=0 started=1 frontier_idle={} neighbours_idle={} words_idle=1 visitor_idle=1 \
slots_idle=1 requests_idle=1 error=0 read_stalled=0 write_stalled=0 slot_awaited=0 visits=0; \
credits frontier={} neighbours={} words=8; reservation demanded=0 reserved=0
engine 0 port 0: {} outstanding"""


def told(error: SimulationError) -> str:
    """Return the diagnosis of an error without the numbers of cycles in it."""
    return re.sub(r"[0-9,]+ cycles", "N cycles", error.diagnosis)


every_executor = pytest.mark.parametrize("executor", EXECUTORS)


@every_executor
def test_registers_keep_what_is_written(executor: str) -> None:
    with made("test", "fixed:9", executor=executor) as machine:
        machine.set_registers({Register.WORDS: 1, Register.COLOUR: 3, Register.STATUS: ALL, Register.CYCLES: ALL})
        machine.set_registers({Register.WORDS: ALL})
        assert machine.cycle == 0
        numbers = [Register.WORDS, Register.COLOUR, Register.STATUS, Register.CYCLES, Register.NEXT_START]
        values = machine.get_registers(numbers)
        assert values.dtype == np.uint64
        assert values.tolist() == [[ALL, ALL], [3, 3], [0, 0], [0, 0], [0, 0]]
        assert machine.cycle > 0
        assert machine.get_registers([Register.COLOUR]).tolist() == [[3, 3]]


@every_executor
def test_level_by_hand(executor: str) -> None:
    with made("test", "fixed:75", executor=executor) as machine:
        assert (machine.engines, machine.clock, machine.cycle) == (2, 150e6, 0)
        level = dispatch_level(machine)
        cycles = machine.wait()
        status, counted, pushed = machine.get_registers([Register.STATUS, Register.CYCLES, Register.CURRENT_COUNT])
        assert status.tolist() == [0, 0]
        assert counted[0] == cycles - 1 >= 4 * 75
        assert pushed[0] == 2
        assert machine.read(level.reach_queue, np.uint32, 3).tolist() == [1, 2, 0]
        word = graph_word(2, 0, False)
        assert machine.read(level.next_queue, np.uint64, 3).tolist() == [word, word, 0]
        assert machine.memory.outstanding() == []
        assert machine.memory.stray_writes() == []


def test_unknown_instruction() -> None:
    with made("test", "fixed:75") as machine:
        machine.dispatch(UNKNOWN)
        assert machine.wait() == 1
        assert machine.get_registers([Register.STATUS]).tolist() == [[Status.BAD_INSTRUCTION] * 2]
        level = dispatch_level(machine)
        machine.wait()
        assert machine.read(level.reach_queue, np.uint32, 2).tolist() == [1, 2]
        assert machine.get_registers([Register.STATUS]).tolist() == [[Status.BAD_INSTRUCTION] * 2]


def test_host_refuses_a_machine_that_refused_an_instruction() -> None:
    with made("test", "fixed:75") as machine:
        machine.dispatch(UNKNOWN)
        machine.wait()
        with pytest.raises(SimulationError) as caught:
            search(machine, GRAPHS["chain"], 0)
    assert str(caught.value) == "an engine did not complete instruction 0 (BFS_LEVEL): status 0x4"


def test_overflow_lasts_until_the_next_dispatch() -> None:
    with made("test", "fixed:9") as machine:
        level = dispatch_level(machine, capacity=1)
        machine.wait()
        assert machine.get_registers([Register.STATUS])[0, 0] == Status.OVERFLOW
        assert machine.read(level.reach_queue, np.uint32, 3).tolist() == [1, 0, 0]
        dispatch_level(machine)
        machine.wait()
        assert machine.get_registers([Register.STATUS])[0, 0] == 0


@every_executor
def test_cycle_limit(executor: str) -> None:
    with made("test", "fixed:75", executor=executor, cycle_limit=125) as machine:
        dispatch_level(machine)
        with pytest.raises(CycleLimitError) as caught:
            machine.wait()
    assert str(caught.value) == "cycle limit of 125 reached"
    assert told(caught.value) == STUCK.format(1, 0, 4, 6, "2 reads")


@pytest.mark.parametrize("missing", [0, 1])
def test_cycle_limit_holds_for_all_instructions_together(missing: int) -> None:
    with made("test", "fixed:75") as machine:
        dispatch_level(machine)
        cycles = machine.wait()
    limit = 3 * cycles - missing
    with made("test", "fixed:75", cycle_limit=limit) as machine:
        for _ in range(2):
            dispatch_level(machine)
            assert machine.wait() == cycles
            machine.get_registers([Register.STATUS] * 100)
        dispatch_level(machine)
        if not missing:
            assert machine.wait() == cycles
            return
        with pytest.raises(CycleLimitError) as caught:
            machine.wait()
    assert str(caught.value) == f"cycle limit of {limit} reached"


def test_cycle_limit_is_written_in_groups_of_digits() -> None:
    with made("test", "fixed:100000", cycle_limit=12_345) as machine:
        dispatch_level(machine)
        with pytest.raises(CycleLimitError) as caught:
            machine.wait()
    assert str(caught.value) == "cycle limit of 12,345 reached"


@every_executor
def test_access_outside_memory(executor: str) -> None:
    with made("test", "fixed:75", executor=executor) as machine:
        dispatch_level(machine, word=graph_word(2**31, 2**31 - 1, True))
        with pytest.raises(MemoryAccessError) as caught:
            machine.wait()
        top = 4096 + machine.memory.allocated
        neighbours = 4096 + 1024
    address = neighbours + 4 * 2**31
    assert re.sub(r"cycle \d+\)", "cycle N)", str(caught.value)) == (
        f"memory: read of 4 bytes at address {address:#x} (engine 0 port 0 cycle N): "
        f"outside the allocated range 4096 to {top}"
    )
    assert caught.value.diagnosis == ""


def test_count_beyond_the_neighbours_runs_into_the_end_of_memory() -> None:
    with made("test", "fixed:9") as machine:
        dispatch_level(machine, word=graph_word(0, 2**31 - 1, True))
        with pytest.raises(MemoryAccessError, match=r"^memory: read of [48] bytes at address 0x\w+ \(engine 0 port 0 "):
            machine.wait()


@every_executor
def test_actions_come_when_all_have_met_and_disturb_nothing(executor: str) -> None:
    graph = GRAPHS["random" if executor == "compiled" else "one edge"]
    memory = "hc2" if executor == "compiled" else "fixed:75"
    with made("test", memory, executor=executor) as machine:
        expected = search(machine, graph, 0)
        end, statistics = machine.cycle, machine.memory.statistics()
        interval = sync_interval(machine.config, machine.memory)
    done: list[tuple[int, int]] = []
    again: list[int] = []
    with made("test", memory, executor=executor) as machine:

        def note(cycle: int) -> None:
            done.append((cycle, machine.cycle))
            if cycle == 300:
                machine.schedule(0, lambda: again.append(machine.cycle))

        wanted = [300, 100, 300, 101, 0, end // 2, 10**9]
        for cycle in wanted:
            machine.schedule(cycle, partial(note, cycle))
        found = search(machine, graph, 0)
        assert (machine.cycle, machine.memory.statistics()) == (end, statistics)
    assert found.level_records == expected.level_records
    assert (found.levels == expected.levels).all()
    steps = {cycle: max(-(-cycle // interval), 1) for cycle in wanted}
    assert done == [(cycle, steps[cycle] * interval) for cycle in sorted(wanted[:-1])]
    assert again == [(steps[300] + 1) * interval] * 2


def test_action_finds_in_memory_what_was_written_and_may_change_it() -> None:
    seen: list[list[int]] = []
    with made("test", "fixed:75") as machine:
        level = dispatch_level(machine)

        def look() -> None:
            reach = machine.view(level.reach_queue, np.uint32, 2)
            seen.append(reach.tolist())
            reach[:] = 9

        machine.schedule(10, look)
        machine.schedule(100_000, look)
        machine.wait()
        assert machine.read(level.reach_queue, np.uint32, 2).tolist() == [1, 2]
        machine.schedule(machine.cycle, look)
        machine.get_registers([Register.STATUS])
        assert machine.read(level.reach_queue, np.uint32, 2).tolist() == [9, 9]
    assert seen == [[0, 0], [1, 2]]


def test_progress_is_told_while_a_slow_memory_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.sim.machine._REPORT_SECONDS", 0.002)
    cycles: list[int] = []
    with made("test", "fixed:100000", on_progress=cycles.append) as machine:
        dispatch_level(machine)
        assert machine.wait() > 300_000
        assert machine.cycle >= cycles[-1]
    assert len(cycles) > 2
    assert cycles == sorted(set(cycles))


def test_progress_is_told_by_time_however_short_the_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count(step=0.01)
    monkeypatch.setattr("cyscc.sim.machine.perf_counter", lambda: next(seconds))
    reports: list[int] = []
    with made("test", "fixed:1", on_progress=reports.append) as machine:
        for _ in range(100):
            machine.dispatch(UNKNOWN)
            machine.wait()
        # Each list of commands asks for the time twice.
        assert 18 <= len(reports) <= 20
        assert reports == sorted(set(reports))
        assert machine.cycle - reports[-1] < 0.1 * machine.cycle


@every_executor
def test_statistics(executor: str) -> None:
    with made("test", "fixed:75", executor=executor) as machine:
        dispatch_level(machine)
        cycles = machine.wait()
        cycle = machine.cycle
        statistics = machine.statistics()
        readout = machine.cycle - cycle
        counter = kernel_register(0, KernelWord.COUNTER_0)
        assert machine.get_registers([counter, counter + 1, counter + 2]).tolist() == [[1, 0], [2, 0], [2, 0]]
    assert json.loads(json.dumps(statistics)) == statistics
    assert statistics["cycles"] == {
        "instructions": cycles,
        "host": cycle - cycles,
        "restarted": 0,
        "readout": readout,
        "total": cycle + readout,
    }
    assert statistics["counters"] == {
        "bfs": {"entries": 1, "items": 2, "pushed": 2, "requests": 11},
        "intersection": {"entries": 0, "items": 0, "pushed": 0, "requests": 0},
    }
    causes = statistics["causes"]
    assert list(causes["bfs"]) == [cause.row.name for cause in Cause]
    assert sum(causes["bfs"][cause] for cause in WORK) == 11
    assert sum(causes["bfs"].values()) == 4 * cycles
    assert causes["intersection"] == {**dict.fromkeys(causes["bfs"], 0), "idle": 2 * cycles}
    memory = statistics["memory"]
    assert memory["profile"] == "fixed:75"
    assert (memory["reads"]["total"], memory["writes"]["total"], memory["flushes"]) == (5, 6, 4)
    assert memory["cycles"] == cycle
    assert statistics["restarted"]["attempts"] == 0


@every_executor
def test_restarted_attempts_are_counted_apart(executor: str) -> None:
    with made("test", "fixed:9", executor=executor) as machine:
        run = search(machine, CROWD, 0, slack=0)
        statistics = machine.statistics()
        assert statistics["cycles"]["total"] == machine.cycle
    assert run.retries == statistics["restarted"]["attempts"] > 0
    cycles = statistics["cycles"]
    assert cycles["instructions"] == run.cycles
    assert sum(cycles.values()) == 2 * cycles["total"]
    assert statistics["memory"]["cycles"] == cycles["instructions"] + cycles["host"]
    counted = statistics["counters"]["bfs"]
    assert counted["entries"] == sum(level.frontier for level in run.level_records)
    assert counted["pushed"] == sum(level.pushed for level in run.level_records)
    given_up = statistics["restarted"]
    for attempt, instructions in ((statistics, run.cycles), (given_up, given_up["instructions"])):
        assert sum(attempt["causes"]["bfs"].values()) == 4 * instructions > 0
        assert min(attempt["causes"]["bfs"].values()) >= 0
        assert sum(attempt["causes"]["bfs"][cause] for cause in WORK) == attempt["counters"]["bfs"]["requests"] > 0
    assert given_up["instructions"] < cycles["restarted"]


def test_unknown_executor() -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        create_machine(PRESETS["test"], parse_profile("hc2"), executor="vhdl")
    assert str(caught.value) == "unknown executor 'vhdl': there are compiled, amaranth"


def test_machine_may_be_closed_twice() -> None:
    with made("test", "hc2") as machine:
        check_bfs(machine, GRAPHS["chain"], 0)
        machine.close()


def test_memory_of_a_closed_machine_is_given_back_at_once() -> None:
    """Machines can be made one after another, each with the memory that its graph needs."""
    gc.collect()
    gc.disable()
    try:
        with made("test", "hc2") as machine:
            search(machine, GRAPHS["chain"], 0)
            memory = weakref.ref(machine.memory)
        del machine
        assert memory() is None
    finally:
        gc.enable()


def test_words_of_chunks() -> None:
    words = np.array([graph_word(5, degree) for degree in (0, 1, 4, 5, 8, 9)], np.uint64)
    assert chunks_of(words, 4).tolist() == [1, 1, 1, 2, 2, 3]
    assert chunks_of(words, 0).tolist() == [1] * 6
    for visited in (False, True):
        assert chunk_words(graph_word(5, 9, visited), 4).tolist() == [
            graph_word(5, 4, visited),
            graph_word(9, 4, visited),
            graph_word(13, 1, visited),
        ]
    assert chunk_words(graph_word(5, 9), 0).tolist() == [graph_word(5, 9)]
    assert chunk_words(graph_word(5, 0), 4).tolist() == [graph_word(5, 0)]


def test_values_of_any_width() -> None:
    words = NamedWords.of([("flag", 1, [0]), ("wide", 146, [0] * 3), ("number", 64, [0])])
    assert words.words.size == 1 + 3 * 3 + 1
    wide = [(1 << 146) - 1, 1 << 64, 5]
    words.put("wide", wide)
    words.put("number", [-7])
    assert words.values("flag") == [0]
    assert words.values("wide") == wide
    assert words.signed("number") == -7
    words.put("wide", [-1, 0, 1 << 146])
    assert words.values("wide") == [(1 << 146) - 1, 0, 0]


def test_places() -> None:
    partly = Field(name="partly", width=70, rows=2, known=0b101)
    words = NamedWords.zeros([Field(name="first", width=3, rows=1, known=7), partly])
    assert words.places["partly"] == (1, partly)
    assert words.rows("partly").shape == (2, 2)
