"""Waveform files read back: their window, also of one that was cut while it was being written."""

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
    path = tmp_path / "w.vcd"
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
