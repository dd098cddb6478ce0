"""The command line: whole runs on the fake coprocessor, and their failures."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.command_line.main import main
from cyscc.host.graph.csr import Graph
from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.errors import CycleLimitError, HangError
from cyscc.sim.processors import available_cores
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


def wrong_level() -> FakeCoprocessor:
    class Wrong(FakeCoprocessor):
        def _level(self) -> int:
            cycles = super()._level()
            self.view(self._registers[Register.REACH_QUEUE], np.uint32, 1)[0] = 0
            return cycles

    return Wrong()


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


def flipped() -> FakeCoprocessor:
    class Flipped(FakeCoprocessor):
        """A bit of its first neighbour flips before the first instruction."""

        def dispatch(self, instruction: Instruction) -> int:
            if not self.dispatched:
                self.view(self._registers[Register.NEIGHBOURS], np.uint32, 1)[0] ^= 1
            return super().dispatch(instruction)

    return Flipped()


@pytest.mark.parametrize("command", [["scc"], ["bfs", "--source", "0"]])
def test_result_of_another_graph_than_the_file_is_refused(
    folder: Path, workshop: Workshop, capfd: pytest.CaptureFixture[str], command: list[str]
) -> None:
    # With the bit flipped, 0 -> 0 and 1 -> 0: two components, and no level but 0.
    (folder / "g.txt").write_text("0 1\n1 0\n")
    workshop.make = flipped
    assert main([*command, "g.txt", "--json", "json"]) == 3
    assert capfd.readouterr() == (
        "",
        f"cyscc {command[0]}: memory: neighbours of the graph are not those that were read: "
        "block 0, addresses 0x1200 to 0x1207 (1 of 1 block changed)\n",
    )
    assert not (folder / "json").exists()


@pytest.mark.parametrize("options", [[], ["--no-verify"]])
def test_stray_writes_are_looked_for_after_every_run(
    folder: Path, workshop: Workshop, capfd: pytest.CaptureFixture[str], options: list[str]
) -> None:
    class Strayed(FakeCoprocessor):
        def stray_writes(self) -> list[int]:
            return [0x1FF8]

    workshop.make = Strayed
    message = "memory: address 0x1ff8, which is in no array, was written to (1 such place)"
    for command in (["scc"], ["bfs", "--source", "10"]):
        assert main([*command, "g.txt", *options]) == 3
        assert capfd.readouterr() == ("", f"cyscc {command[0]}: {message}\n")


def test_simplified_graph_is_searched_and_that_of_the_file_counts(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "g.txt").write_text("".join(f"{v} {(v + 1) % 5}\n{v} {(v + 1) % 5}\n{v} {v}\n" for v in range(5)))
    for command in (["scc"], ["bfs", "--source", "0"]):
        documents = []
        for options in ([], ["--simplify"], ["--simplify", "--no-verify"]):
            assert main([*command, "g.txt", *options, "--json", "json"]) == 0
            documents.append(json.loads((folder / "json").read_text()))
            out = capfd.readouterr().out
            assert ("10 edges dropped, 5 left\n" in out) == bool(options)
        assert [document["graph"]["edges"] for document in documents] == [15] * 3
        assert [document["graph"]["dropped_edges"] for document in documents] == [None, 10, 10]
        searches = 2 if command == ["scc"] else 1
        assert [document["edges_traversed"] for document in documents] == [15 * searches, 5 * searches, 5 * searches]
        sizes = [document["uploaded_bytes"] for document in documents]
        assert sizes[0] - sizes[1] == 4 * 10 * searches
        assert [document["verified"] for document in documents] == [True, True, None]


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


def test_wrong_levels_are_noticed(folder: Path, workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    workshop.make = wrong_level
    assert main(["bfs", "g.txt", "--source", "14"]) == 3
    assert capfd.readouterr() == (
        "",
        "cyscc bfs: wrong result: vertex 10: level 1 found, -1 expected (3 of 8 vertices wrong)\n",
    )


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
