"""The life of queue entries in the window of a replay."""

import re
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main

GRAPH = "".join(f"{100 + 3 * v} {100 + 3 * ((v * 5 + step) % 40)}\n" for v in range(40) for step in (1, 2, 7))
"""Vertices are named 100, 103, 106 and so on."""


def test_lives_are_those_of_the_waveforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(GRAPH)
    assert main(["bfs", "g.txt", "--source", "100", "--config", "test", "--record", "seen", "--quiet"]) == 0
    window = ("--at", "level=1", "--cycles", "200", "-o", "level.vcd", "--quiet")
    assert main(["replay", "seen", *window, "--life", "all.kanata"]) == 0
    assert main(["replay", "seen", *window, "--life", "one.kanata", "--life-of", "engine0.bfs1"]) == 0
    assert main(["life", "level.vcd", "-o", "own.kanata", "--quiet", "--graph", "g.txt"]) == 0
    text = Path("all.kanata").read_text()
    assert text == Path("own.kanata").read_text()
    assert text.startswith("Kanata\t0004\n")
    assert 0 < len(Path("one.kanata").read_text()) < len(text)
    assert main(["replay", "seen", *window, "--life", "vertex.kanata", "--life-of", "103"]) == 0
    assert " vertex 103:" in Path("vertex.kanata").read_text()
    named = re.findall(r" vertex (\d+): ", text)
    assert len(named) == text.count("\nI\t"), "every vertex is known"
    assert {int(name) % 3 for name in named} == {1}
    assert main(["replay", "seen", *window, "--life", "-", "--life-of", "1"]) == 2
    assert capfd.readouterr().err == "cyscc replay: level.vcd: nothing of vertex 1 begins in the window (--life-of)\n"
    assert not Path("level.vcd").exists()

    capfd.readouterr()
    for options, line in (
        (("--life-of", "3"), "--life-of needs --life"),
        (("--life", "l", "--scope", "engine0"), "--life needs all signals of the kernels, and --scope leaves some out"),
        (("--life", "no/l"), "no/l: its directory does not exist (--life)"),
    ):
        assert main(["replay", "seen", "--at", "0", *options]) == 2
        assert capfd.readouterr().err == f"cyscc replay: {line}\n"
