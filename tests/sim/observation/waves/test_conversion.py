"""Values of a simulator's own VCD file, window by window, in both formats."""

from pathlib import Path

import pytest

from cyscc.sim.observation.waves import Waves
from cyscc.sim.observation.waves.files import Conversion
from tests.sim.observation.waves.reading import Recording, recording

RAW = b"""$timescale 1 s $end
$scope module top $end
$var wire 2 ! state [1:0] $end
$var wire 1 " \\pair.one $end
$var wire 1 # hidden $end
$upscope $end
$enddefinitions $end
#0
b00 !
0"
0#
#1
b01 !
#2
1"
0"
#3
b10 !
1"
#4
b11 !
1#
#5
0"
"""

PLACES = {"state": (("a", "b", "state"), {0: "A", 1: "B", 3: "D"}), "pair.one": (("a", "pair", "one"), None)}


def converted(output: Path, window: tuple[int, int] | None, cycles: int, *, begun: int = 0) -> None:
    locate, cycle_of = (lambda path: PLACES.get(path[-1])), (lambda time: begun + time)
    conversion = Conversion(Waves(output, window), locate=locate, cycle_of=cycle_of)
    conversion.raw.write_bytes(RAW)
    conversion.finish(cycles)
    assert not conversion.raw.exists()


@pytest.mark.parametrize(
    ("window", "cycles", "body"),
    [
        ((0, 9), 6, '#0 $dumpvars sA ! 0" $end #1 sB ! #3 s2 ! 1" #4 sD ! #5 0" #6'),
        ((2, 4), 6, '#2 $dumpvars sB ! 0" $end #3 s2 ! 1" #4 sD ! #5'),
        ((7, 8), 20, '#7 $dumpvars sD ! 0" $end #9'),
    ],
)
def test_text(tmp_path: Path, window: tuple[int, int], cycles: int, body: str) -> None:
    converted(tmp_path / "run.vcd", window, cycles)
    head, _, rest = (tmp_path / "run.vcd").read_text().partition("$enddefinitions $end\n")
    assert rest.split() == body.split()
    assert head == (
        "$comment one nanosecond stands for one cycle $end\n$timescale 1 ns $end\n"
        "$scope module a $end\n$scope module b $end\n$var string 1 ! state $end\n$upscope $end\n"
        '$scope module pair $end\n$var wire 1 " one $end\n$upscope $end\n$upscope $end\n'
    )


def test_compressed(tmp_path: Path) -> None:
    converted(tmp_path / "run.fst", (2, 4), 6)
    assert recording(tmp_path / "run.fst") == Recording(
        {("a", "b", "state"): [(2, "B"), (3, "2"), (4, "D")], ("a", "pair", "one"): [(2, "0"), (3, "1")]}, 5
    )


@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
def test_window_that_was_not_reached(tmp_path: Path, suffix: str) -> None:
    converted(tmp_path / f"run{suffix}", (7, 8), 7)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
def test_window_before_what_a_run_goes_on_from(tmp_path: Path, suffix: str) -> None:
    converted(tmp_path / f"run{suffix}", (2, 4), 16, begun=10)
    assert list(tmp_path.iterdir()) == []
    converted(tmp_path / f"run{suffix}", (2, 11), 16, begun=10)
    shown = recording(tmp_path / f"run{suffix}")
    assert shown == ({("a", "b", "state"): [(10, "A"), (11, "B")], ("a", "pair", "one"): [(10, "0")]}, 12)


@pytest.mark.parametrize("suffix", [".vcd", ".fst"])
def test_interrupted_run_has_waveforms_up_to_a_whole_cycle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], suffix: str
) -> None:
    monkeypatch.setattr("cyscc.sim.observation.waves.files._PATIENCE", -1.0)
    output = tmp_path / f"run{suffix}"
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        converted(output, None, 9)
    assert recording(output) == ({("a", "b", "state"): [(0, "A")], ("a", "pair", "one"): [(0, "0")]}, 1)
    assert list(tmp_path.iterdir()) == [output]
    assert capfd.readouterr().err == f"cyscc: {output}: cut at cycle 1 of 9, since the run was interrupted\n"


def test_interrupted_run_whose_window_was_not_come_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cyscc.sim.observation.waves.files._PATIENCE", -1.0)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        converted(tmp_path / "run.vcd", (4, 9), 9)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == f"cyscc: {tmp_path}/run.vcd: not written, since the run was interrupted\n"
