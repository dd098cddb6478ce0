"""Waveform files read back: their window, also of one that was cut while it was being written."""

import os
from pathlib import Path

import pytest

from cyscc.sim.observation.wave_reader import WaveFileError, WaveReader
from tests.refusals import refused

HEAD = """$timescale 1 ns $end
$scope module engine0 $end
$var wire 1 ! valid $end
$var wire 8 " level $end
$var wire 8 # late $end
$upscope $end
$enddefinitions $end
"""


@pytest.mark.parametrize(
    ("body", "first", "valid", "level"),
    [
        # Whole: the last time is that after the last cycle.
        ('#5\n1!\nb11 "\n#7\n0!\n#9\nb1000 "\nb1 #\n#12\n', 5, [1, 1, 0, 0, 0, 0, 0], [3, 3, 3, 3, 8, 8, 8]),
        # Cut: the last change is of the last cycle.
        ('#0\n0!\nb0 "\n#1\n1!\n#3\n0!\nb1 #\n', 0, [0, 1, 1, 0], [0, 0, 0, 0]),
        ('#4\n1!\nb1 "\nb1 #\n', 4, [1], [1]),
    ],
)
def test_windows(body: str, first: int, valid: list[int], level: list[int], tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.vcd")  # whose name is not UTF-8
    path.write_text(HEAD + body)
    reader = WaveReader(path)
    assert (reader.first, reader.cycles) == (first, len(valid))
    assert reader.values("engine0.valid").tolist() == valid
    assert reader.values("engine0.level").tolist() == level
    assert (reader.width("engine0.valid"), reader.width("engine0.level")) == (1, 8)
    assert "engine0.level" in reader
    assert "engine0.other" not in reader
    with refused(WaveFileError, "no signal engine0.other"):
        reader.values("engine0.other")
    if len(valid) > 1:
        with refused(WaveFileError, "engine0.late has no value in the first cycle"):
            reader.values("engine0.late")


WIDE = HEAD.replace("wire 8 # late", "wire 4000000000 # late")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + "#0\n1!\n#1000000000000000000\n0!\n",
            "no waveforms: 1[0-9]* bytes cannot have 1,000,000,000,0[0-9,]* cycles",
        ),
        (HEAD + "#0\n1!\n#" + "9" * 1000 + "\n0!\n", "no waveforms: failed to load Vcd"),
        (WIDE + "#0\nb1 #\n#5\nb0 #\n", "no waveforms: (damaged|no signal has a value)"),
        ("", "no waveforms: unknown file format"),
    ],
)
def test_files_that_declare_what_they_do_not_have(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "w.vcd"
    path.write_text(text)
    with pytest.raises(WaveFileError, match=message):
        WaveReader(path)


def test_parser_that_ends_or_panics(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A hierarchy whose unpacked size is a lie ends the parser; the bytes of an impossible one make it panic."""
    name = b"w\0".ljust(128, b"\0")
    header = bytes([0]) + (329).to_bytes(8, "big") + bytes(16) + bytes.fromhex("6957148b0abf0540")
    header += (1).to_bytes(8, "big") * 5 + bytes(1) + name + bytes(119) + bytes(1 + 8)
    for size in (1 << 62, 20 << 30, 0):
        path = tmp_path / "w.fst"
        body = size.to_bytes(8, "big") + bytes(20)
        path.write_bytes(header[:330] + bytes([6]) + (len(body) + 8).to_bytes(8, "big") + body)
        with pytest.raises(WaveFileError, match=r"^no waveforms: "):
            WaveReader(path)
    assert capfd.readouterr() == ("", "")


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with refused(WaveFileError, "is no plain file"):
            WaveReader(path)
