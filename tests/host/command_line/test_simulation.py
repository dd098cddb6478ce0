"""The command line: whole runs on the fake coprocessor, their failures, and messages about graph files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.command_line.main import main
from cyscc.host.graph import available_memory
from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.graph.csr import Graph
from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.errors import CycleLimitError, HangError
from cyscc.sim.notices import LONGEST_LINE
from cyscc.sim.processors import available_cores
from tests.conftest import standard_input
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor


def test_window_that_the_run_does_not_reach(
    folder: Path, workshop: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    class Untraced(FakeCoprocessor):
        """Leaves no waveforms, as a machine does whose window was not reached."""

        def close(self) -> None:
            workshop.asked["waves"].unlink()
            super().close()

    workshop.make = Untraced
    assert main(["scc", "g.txt", "--waves", "w.vcd", "--wave-window", "99999999:100000000"]) == 0
    out, err = capfd.readouterr()
    assert workshop.machine is not None
    cycles = f"{workshop.machine.cycle:,}"
    assert err == f"cyscc: --wave-window begins at cycle 99,999,999, and the run had {cycles}: w.vcd is not written\n"
    assert "components    4," in out
    assert not (folder / "w.vcd").exists()


def test_options_reach_the_machine(folder: Path, workshop: Workshop) -> None:
    arguments = "--config test --memory fixed:9 --executor amaranth --threads 3 --cycle-limit 77 --waves w.vcd"
    wanted = "--scope engine0.bfs1 --scope *.token_* --wave-view"
    assert main(["scc", "g.txt", "--quiet", *arguments.split(), "--wave-window", "5:10", *wanted.split()]) == 0
    asked = dict(workshop.asked)
    assert asked.pop("config").bfs_kernels == 2
    assert asked.pop("memory").latency == 9
    assert asked.pop("waves").suffix == ".vcd"
    assert all(callable(asked.pop(name)) for name in ("on_progress", "on_build"))
    assert asked == {
        "executor": "amaranth",
        "threads": 3,
        "cycle_limit": 77,
        "wave_window": (5, 10),
        "scopes": ("engine0.bfs1", "*.token_*"),
        "wave_view": True,
    }
    assert (folder / "w.vcd").read_text() == "$end"
    assert sorted(path.name for path in folder.iterdir()) == ["g.txt", "w.vcd"]


def test_defaults(folder: Path, workshop: Workshop) -> None:
    assert main(["scc", "g.txt", "--quiet"]) == 0
    asked = workshop.asked
    assert (asked["config"].engines, asked["memory"].name) == (4, "hc2")
    assert asked["threads"] == available_cores()
    assert (asked["executor"], asked["cycle_limit"], asked["waves"]) == ("compiled", None, None)


def wrong_colour() -> FakeCoprocessor:
    class Wrong(FakeCoprocessor):
        def _intersect(self) -> int:
            cycles = super()._intersect()
            colours = self.view(self._registers[Register.COLOURS], np.uint32, 8)
            colours[1] = colours.max()
            return cycles

    return Wrong(offer=False)


def failing(error: BaseException) -> Callable[[], FakeCoprocessor]:
    class Failing(FakeCoprocessor):
        def wait(self) -> int:
            raise error

    return Failing


def refusing() -> FakeCoprocessor:
    machine = FakeCoprocessor()
    machine.break_instruction = Instruction.INTERSECTION
    return machine


@pytest.mark.parametrize(
    ("make", "status", "message"),
    [
        (failing(CycleLimitError("more than 50 cycles")), 3, "cyscc scc: more than 50 cycles\n"),
        (failing(HangError("nothing moves", "kernel 3\nport 4\n")), 3, "cyscc scc: nothing moves\nkernel 3\nport 4\n"),
        (refusing, 3, "cyscc scc: an engine did not complete instruction 1 (INTERSECTION): status 0x4\n"),
        (
            wrong_colour,
            3,
            "cyscc scc: wrong result: vertex 11: component 11 found, 10 expected (3 of 8 vertices wrong)\n",
        ),
        (failing(MemoryError()), 2, "cyscc scc: not enough memory\n"),
        (
            failing(KeyboardInterrupt()),
            130,
            "cyscc scc: interrupted; nothing is kept of the run (--checkpoint DIR would keep it)\n",
        ),
        (failing(RuntimeError("a\nb")), 3, "cyscc scc: internal error: RuntimeError: a b\n"),
        (failing(OSError(5, "Input/output error", "x")), 2, "cyscc scc: x: Input/output error\n"),
    ],
)
def test_failure_leaves_one_line_and_no_file_but_waveforms(
    folder: Path,
    workshop: Workshop,
    capfd: pytest.CaptureFixture[str],
    make: Callable[[], FakeCoprocessor],
    status: int,
    message: str,
) -> None:
    workshop.make = make
    assert main(["scc", "g.txt", "--labels", "labels", "--json", "json", "--waves", "w.vcd"]) == status
    assert capfd.readouterr() == ("", message)
    assert workshop.machine is not None
    assert workshop.machine.closed
    assert sorted(path.name for path in folder.iterdir()) == ["g.txt", "w.vcd"]


def test_results_are_checked_on_the_graph_of_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "g.txt").write_text("".join(f"{v} {(v + 1) % 5}\n" * 2 for v in range(5)))
    vertices = np.arange(5, dtype=np.uint32)
    path = Graph.from_edges(5, vertices[:-1], vertices[1:])
    monkeypatch.setattr(Graph, "simplified", lambda _: path)  # an edge too few: it is no ring
    for command in (["scc"], ["bfs", "--source", "1"]):
        assert main([*command, "g.txt", "--simplify"]) == 3
        assert capfd.readouterr().err.startswith(f"cyscc {command[0]}: wrong result: vertex ")


def test_traceback_is_there_for_developers(
    folder: Path, workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CYSCC_DEBUG", "1")
    workshop.make = failing(RuntimeError("bug"))
    assert main(["scc", "g.txt"]) == 3
    err = capfd.readouterr().err
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("cyscc scc: internal error: RuntimeError: bug\n")


def test_machine_that_does_not_exist_is_bad_usage(
    folder: Path, workshop: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> FakeCoprocessor:
        raise ValueError("no such machine")

    workshop.make = refuse
    assert main(["scc", "g.txt"]) == 2
    assert capfd.readouterr().err == "cyscc scc: no such machine\n"


CYCLE = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 0.5\n2 3 1\n3 1 1\n"


@pytest.mark.parametrize("command", ["scc", "software tarjan", "bfs --source 3"])
def test_content_against_the_suffix_is_told(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "cycle.txt").write_text(CYCLE)
    assert main([*command.split(), "cycle.txt", "--quiet"]) == 0
    out, err = capfd.readouterr()
    note = "cyscc: cycle.txt: read as Matrix Market by its content, although its suffix says edge list\n"
    assert (out, err) == ("", note)
    if not command.startswith("bfs"):
        assert main([*command.split(), "cycle.txt"]) == 0
        out, err = capfd.readouterr()
        assert "components  " in out
        assert " 1, the largest of 3 vertices\n" in out
        assert err == note


@pytest.mark.parametrize(
    ("command", "needed"),
    [("scc g.txt", "1.6 MB"), ("bfs g.txt --source 10", "1.3 MB"), ("scc g.txt --queue-slack 2^40", "26.4 TB")],
)
def test_a_simulation_without_room(
    command: str,
    needed: str,
    folder: Path,
    workshop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def make() -> FakeCoprocessor:
        raise AssertionError("the machine was made although there is no room")

    workshop.make = make
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(1_200_000, "control group"))
    assert main([*command.split(), "--json", "out.json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err == (
        f"cyscc {command.partition(' ')[0]}: g.txt: simulated, 8 vertices and 11 edges need about {needed} of memory, "
        "and 1.2 MB are left (control group)\n"
    )
    assert [path.name for path in folder.iterdir()] == ["g.txt"]


def test_a_graph_is_not_generated_without_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(2**30, "ulimit -v"))
    assert main(["generate", "rmat", "--vertices", "2^30", "--degree", "2", "-o", "r.gr"]) == 2
    assert capfd.readouterr().err == (
        "cyscc generate: 1,073,741,824 vertices and 2,147,483,648 edges need about 34.4 GB of memory, "
        "and 1.1 GB are left (ulimit -v)\n"
    )
    assert [path.name for path in folder.iterdir()] == ["g.txt"]


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        (["scc", f"{'d/' * 1000}g.txt"], "g.txt: does not exist"),
        (["scc", "long.txt"], "is not a vertex id"),
        (["scc", "g.txt", "--threads", LONG], "is not an integer"),
        ([LONG], "(--help lists all 18)"),
        (["scc", "g.txt", "\x1b[31m\n"], r"unrecognized arguments: \x1b[31m"),
    ],
)
def test_no_line_is_longer_than_a_screen(
    arguments: list[str], end: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "long.txt").write_text(f"1 {LONG}\n")
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.removesuffix("\n").endswith(end)
    assert err.startswith("cyscc")
    assert len(err) <= LONGEST_LINE + 1


@pytest.mark.parametrize(
    ("content", "expected", "status"),
    [
        (gzip.compress(CYCLE.encode(), mtime=0), "", 0),
        (b"1 2\n2 1 7\n", "cyscc software: /dev/stdin:2: 3 columns, and line 1 has 2\n", 2),
    ],
    ids=["gzipped", "refused"],
)
def test_standard_input(content: bytes, expected: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    with standard_input(content):
        assert main(["software", "tarjan", "/dev/stdin", "--no-verify", "--quiet"]) == status
    assert capfd.readouterr() == ("", expected)
