"""Wrong results, and memory that is not as it must be, are refused wherever a result is asked for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cyscc
import cyscc.sim.machine
from cyscc.host.command_line.main import main
from cyscc.host.driver import components, search
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.runs import BfsRequest, SccRequest
from cyscc.sim.coprocessor import ArrayKind
from cyscc.sim.errors import SimulationError

GRAPH = GraphSpec(kind="random", vertices=64, degree=4, seed=1)
MACHINE: dict[str, Any] = {"preset": "test", "memory": "fixed:75"}
OPTIONS = ["--config", "test", "--memory", "fixed:75", "--quiet"]


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    assert main(["generate", "random", "--vertices", "64", "--degree", "4", "--seed", "1", "-o", "g.txt"]) == 0


def wrong_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave every vertex in a component of its own."""

    def scatter(colours: Any, count: int) -> None:
        colours[:] = np.arange(1, len(colours) + 1)

    monkeypatch.setattr(components, "check_colours", scatter)


def wrong_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave every vertex but the source a level too deep."""
    levels_of = search.levels_of

    def deeper(*arguments: Any, **options: Any) -> Any:
        levels = levels_of(*arguments, **options)
        levels[levels > 0] += 1
        return levels

    monkeypatch.setattr(search, "levels_of", deeper)


def stray_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that something was written where no array is."""
    monkeypatch.setattr(cyscc.sim.machine.Machine, "stray_writes", lambda machine: [0x40])


def other_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change a neighbour in memory once everything is there."""
    create = cyscc.sim.machine.create_machine

    def changing(*arguments: Any, **options: Any) -> cyscc.sim.machine.Machine:
        machine = create(*arguments, **options)
        allocate = machine.allocate

        def allocated(size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
            address = allocate(size, holds=holds)
            if holds == ArrayKind.NEIGHBOURS:
                machine.schedule(0, lambda: np.bitwise_xor.at(machine.view(address, np.uint32, 1), 0, 1))
            return address

        monkeypatch.setattr(machine, "allocate", allocated)
        return machine

    monkeypatch.setattr(cyscc.sim.machine, "create_machine", changing)


def by_command(*words: str) -> Callable[[bool], Any]:
    """Return what makes a run by the command line, and says whether its document calls it verified."""

    def run(verify: bool) -> Any:
        options = [*OPTIONS, "--json", "json", *([] if verify else ["--no-verify"])]
        status = main([*words, *options])
        if status == 3:
            raise SimulationError("")
        assert status == 0
        return json.loads(Path("json").read_text())["verified"]

    return run


def by_python(function: Callable[..., Any], **keywords: Any) -> Callable[[bool], Any]:
    return lambda verify: function("g.txt", config="test", memory="fixed:75", verify=verify, **keywords).verified


def by_request(request: SccRequest | BfsRequest) -> Callable[[bool], Any]:
    return lambda verify: request.measure(GRAPH.generate(), verify=verify)["verified"]


SEARCHES = {
    "command": by_command("bfs", "g.txt", "--source", "0"),
    "python": by_python(cyscc.bfs, source=0),
    "measured": by_request(BfsRequest.of(GRAPH, **MACHINE)),
}
COMPONENTS = {
    "command": by_command("scc", "g.txt"),
    "python": by_python(cyscc.scc),
    "measured": by_request(SccRequest.of(GRAPH, **MACHINE)),
}
WAYS = [
    *(pytest.param(run, wrong_levels, id=f"bfs-{name}") for name, run in SEARCHES.items()),
    *(pytest.param(run, wrong_labels, id=f"scc-{name}") for name, run in COMPONENTS.items()),
]


def refusal(run: Callable[[bool], Any], capfd: pytest.CaptureFixture[str], *, verify: bool = True) -> str:
    """Return the message by which a run is refused."""
    with pytest.raises(SimulationError) as caught:
        run(verify)
    return str(caught.value) or capfd.readouterr().err.rstrip("\n").partition(": ")[2]


@pytest.mark.parametrize(("run", "wrong_result"), WAYS)
def test_whatever_is_wrong_is_refused(
    run: Callable[[bool], Any],
    wrong_result: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(True) is True
    assert not run(False)
    stray = "memory: address 0x40, which is in no array, was written to (1 such place)"
    with monkeypatch.context() as patch:
        wrong_result(patch)
        assert refusal(run, capfd).startswith("wrong result: vertex ")
        assert not run(False)
        stray_write(patch)
        assert refusal(run, capfd) == stray
    with monkeypatch.context() as patch:
        other_graph(patch)
        assert refusal(run, capfd).startswith("memory: neighbours of the graph are not those that were read: block 0, ")
        assert not run(False)
    with monkeypatch.context() as patch:
        stray_write(patch)
        assert refusal(run, capfd) == stray
        assert refusal(run, capfd, verify=False) == stray
