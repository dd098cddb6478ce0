"""Some odd command lines: each is done, or refused in one line that leaves nothing."""

from pathlib import Path

import pytest

from tests.fuzz.oddities import ODDITIES, Oddity


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("scc g.txt --config test --json out.pdf", "refused"),
        ("scc /dev/zero --config test --labels out.txt", "refused"),
        ("explain brackets.json --json out.json", "refused"),
        ("compare g.txt --algorithms tarjan --configs none --seed 2 --json out.json", "refused"),
        ("synth --depth 5 --config test -o out", "refused"),
        ("bfs g.txt --source 1 --config test --record out --record-interval 65537", "refused"),
        ("mec m.tra -o out.txt", "done"),
    ],
)
def test_command_line(command: str, kind: str, tmp_path: Path) -> None:
    finding = ODDITIES.examine(Oddity(command.split()), tmp_path)
    assert (finding.kind, finding.good) == (kind, True), finding


def test_what_is_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.command_line.main.print_error", lambda *_, **__: Path("left").touch())
    finding = ODDITIES.examine(Oddity(["scc", "missing"]), tmp_path)
    assert (finding.kind, finding.good) == ("odd", False)
    assert finding.what == "not a line: ''; left: left"
