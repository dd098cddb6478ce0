"""The watchdog finds what hangs, in the same cycle on every executor, and not what waits for the memory."""

import json
import re
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.errors import HangError
from cyscc.sim.executors.amaranth import AmaranthExecutor
from cyscc.sim.executors.compiled.executor import CompiledExecutor
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import Hc2, Memory, Profile, parse_profile
from tests.sim.executors.outcomes import deafen, dispatch_level
from tests.sim.memory.stepper import Stepper, flush, machine, read, write

WATCHDOG = 400
CONFIG = PRESETS["test"]


def watched(
    executor: str, profile: Profile, *, config: AcceleratorConfig = CONFIG, watchdog: int = WATCHDOG
) -> Machine:
    """Return a small machine with a watchdog."""
    kind = AmaranthExecutor if executor == "amaranth" else CompiledExecutor
    return create_machine(config, profile, executor=lambda memory, _: kind(config, memory, watchdog=watchdog))


# A hang is seen in every eighth cycle. The token goes round all the time, so the AEs meet in others too.
@pytest.mark.parametrize("watchdog", range(WATCHDOG, WATCHDOG + 8))
def test_a_hang_is_found_in_the_same_cycle_by_both_executors(watchdog: int) -> None:
    found = []
    for executor in EXECUTORS:
        machine = watched(executor, Hc2(), config=CONFIG.replace(link_cycles=8), watchdog=watchdog)
        deafen(machine.memory)
        dispatch_level(machine)
        with pytest.raises(HangError) as caught:
            machine.wait()
        machine.close()
        found.append((str(caught.value), caught.value.diagnosis))
    assert found[0] == found[1]
    message, diagnosis = found[0]
    stopped = re.fullmatch(r"nothing moved until cycle (\d+): the machine hangs", message)
    assert stopped is not None
    # The other kernels are done when their flushes are complete, after 60 cycles and some.
    assert watchdog + 60 < int(stopped[1]) < watchdog + 100
    assert "frontier_idle=0 neighbours_idle=1" in diagnosis
    assert "read_stalled=1" in diagnosis
    assert "outstanding" not in diagnosis


@pytest.mark.parametrize(
    ("executor", "profile"),
    [
        ("amaranth", parse_profile("fixed:500")),
        ("compiled", parse_profile("fixed:50000")),
        ("compiled", Hc2(bank_busy=10_000)),
        # The writes of a visit are not answered: only their port's readiness tells that they are complete.
        ("compiled", Hc2(bank_busy=10_000, writes_in_flight=1)),
        ("compiled", Hc2(flush_travel=50_000)),
    ],
    ids=str,
)
def test_a_memory_that_owes_for_longer_than_the_watchdog_waits_is_no_hang(executor: str, profile: Profile) -> None:
    machine = watched(executor, profile)
    dispatch_level(machine)
    assert machine.wait() > 2 * WATCHDOG
    machine.close()


def test_what_each_request_owes() -> None:
    drive = Stepper(machine("hc2", engines=2, ports=2))
    memory: Memory = drive.memory
    assert memory.last_completion() == -1
    drive.step([read(1, 4096)], ae=1)
    assert memory.last_completion() == 75
    drive.step([write(0, 4096, 1)])
    # The bank is busy with the read until then.
    assert memory.last_completion() == 75 + 15
    drive.step([flush(0)])
    assert memory.last_completion() == 75 + 15
    drive.run(100)
    assert memory.last_completion() == 75 + 15
    drive.step([flush(1)])
    assert memory.last_completion() == 103 + 60


def test_stalls_that_come_and_go_are_nothing_owed() -> None:
    drive = Stepper(machine("stress"))
    drive.run(50)
    assert drive.memory.last_completion() == -1


def test_copies_that_queue_at_a_slow_bank_are_no_hang(tmp_path: Path) -> None:
    graph, memory, result = (tmp_path / name for name in ("graph.txt", "slow.toml", "result.json"))
    graph.write_text("0 1\n1 0\n" * 20)
    memory.write_text('profile = "hc2"\nbank_busy = 10000\n')
    command = ["scc", str(graph), "--config", "test", "--memory", str(memory), "--json", str(result), "--quiet"]
    assert main(command) == 0
    document = json.loads(result.read_text())
    assert document["components"]["count"] == 1
    # Longer than 20,000 cycles and four latencies: so long is a level that does nothing but wait for the bank.
    assert max(level["cycles"] for level in document["longest_iteration"]["forward"]["levels"]) > 20_000 + 4 * 10_060
