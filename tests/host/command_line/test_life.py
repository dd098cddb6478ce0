"""`cyscc life`: its output, its file, and refusals."""

import re
from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main
from tests.life import Searched


def test_shown(search_waves: Searched) -> None:
    life = cyscc.life(search_waves.path, top=5)
    records = search_waves.bfs.level_records
    entries, pushed = (sum(getattr(record, name) for record in records) for name in ("frontier", "pushed"))
    assert life.title.startswith(f"cycles 0 to {search_waves.cycles - 1:,}, 6 kernels: {entries} queue entries, ")
    counts = life.ends.set_index(["items", "ended"])["number"]
    assert counts["queue entries", "expanded"] == entries
    assert counts["neighbours"][["pushed", "pushed again"]].sum() == pushed
    assert " ".join(life.times["stage"]) == "Qo Qp Qm Qk Qn QX NX Np Nm Nk Wp Wm Wk Vb Vs Ve Vm Vr"
    text = life.text(width=200)
    assert re.search(r"\nlives: 5 of [\d,]+\n", text)
    assert re.search(
        r"^ *\d+ +[\d,]+ +engine0.bfs0 +queue\[0\] +0 +expanded, \d+ neighbours? +Qo 1 Qp 2 Qm \d+", text, re.M
    )


def test_written(search_waves: Searched, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run.kanata"
    words = ["life", str(search_waves.path), "--of", "engine0.bfs0", "--first", "3"]
    assert main([*words, "-o", str(output), "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    text = output.read_text()
    assert text.startswith("Kanata\t0004\nC=\t")
    assert len(re.findall(r"^L\t\d+\t0\tengine0\.bfs0 queue\[\d+\](?! >)", text, re.M)) == 3
    assert main([*words, "-o", "-"]) == 0
    assert capfd.readouterr() == (text, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("none.vcd", "none.vcd: cannot be read: No such file or directory"),
        ("text.vcd", "text.vcd: no waveforms: unknown file format, only GHW, FST and VCD are supported"),
        ("empty.vcd", "empty.vcd: no waveforms: no signal has a value"),
        (
            "other.vcd",
            "other.vcd: no kernel is shown (engine*.bfs*, engine*.intersection*), by whose signals lives are told",
        ),
        ("part.vcd", "part.vcd: no signal engine0.bfs0.control.epoch"),
        (
            "run.vcd --of engine7",
            "run.vcd: no kernel 'engine7': there are engine0.bfs0 to engine1.intersection0 (--of)",
        ),
        ("run.vcd --of 99", "run.vcd: nothing of vertex 99 begins in the window (--of)"),
        ("run.vcd -o none/a.kanata", "none/a.kanata: its directory does not exist (-o)"),
        ("part.vcd -o part.vcd", "-o and WAVES|DIR are the same file: part.vcd"),
        ("run.vcd --undirected", "--undirected needs --graph"),
        ("run.vcd --first 0", "argument --first: must be at least 1, not 0"),
    ],
)
def test_refused(
    words: str,
    message: str,
    search_waves: Searched,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    head = "$timescale 1 ns $end\n"
    tail = "$enddefinitions $end\n"
    scopes = "$scope module engine0 $end\n$scope module {0} $end\n$var wire 1 ! a $end\n$upscope $end\n$upscope $end\n"
    Path("run.vcd").symlink_to(search_waves.path)
    Path("text.vcd").write_text("nothing of the kind\n")
    Path("empty.vcd").write_text(head + tail)
    Path("other.vcd").write_text(head + scopes.format("shell") + tail + "#5\n0!\n#6\n")
    Path("part.vcd").write_text(head + scopes.format("bfs0") + tail + "#5\n0!\n#6\n")
    assert main(["life", *words.split()]) == 2
    assert capfd.readouterr() == ("", f"cyscc life: {message}\n")


def test_damaged(
    search_waves: Searched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = search_waves.path.read_bytes()
    head = whole.index(b"$enddefinitions")
    Path("head.vcd").write_bytes(whole[: head // 2])
    assert main(["life", "head.vcd"]) == 2
    assert capfd.readouterr() == ("", "cyscc life: head.vcd: no waveforms: failed to load Vcd\n")
    middle = whole.index(b"\n#100\n") + 1
    Path("middle.vcd").write_bytes(whole[:middle] + b"b1zz garbage ###\n" + whole[middle:])
    assert main(["life", "middle.vcd"]) == 2
    # The reader's own words come before.
    assert re.fullmatch(
        r"cyscc life: middle.vcd: (no waveforms: damaged|damaged where \S+ changes)",
        capfd.readouterr().err.splitlines()[-1],
    )
    Path("cut.vcd").write_bytes(whole[: whole.index(b"\n#1000\n") + 1])
    assert main(["life", "cut.vcd"]) == 0
    assert re.match(r"cycles 0 to 9\d\d, 6 kernels: \d+ queue entries, \d+ neighbours\n", capfd.readouterr().out)
