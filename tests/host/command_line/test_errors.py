"""Bad input and bad usage: exit status 2 and one line that names the place and the cause."""

import gzip
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from host.command_line.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, with good and bad files; no machine may be made."""
    monkeypatch.chdir(tmp_path)

    def create_machine(*_: object, **__: object) -> Any:
        raise AssertionError("the machine was made in spite of bad input")

    module = types.ModuleType("sim.machine")
    module.create_machine = create_machine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sim.machine", module)
    texts = {
        "g.txt": "1 2\n2 1\n",
        "empty.txt": "",
        "comments.txt": "# nothing\n",
        "word.txt": "1 2\nabc 3\n",
        "negative.txt": "1 2\n\n3 -4\n",
        "column.txt": "1 2\n3\n",
        "huge.txt": "1 99999999999999999999\n",
        "header.mtx": "%%MatrixMarket matrix array real general\n2 2 1\n1 2\n",
        "rectangle.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n",
        "range.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n",
        "few.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n",
        "big.mtx": "%%MatrixMarket matrix coordinate pattern general\n5000000000 5000000000 1\n1 2\n",
        "range.gr": "p sp 2 1\na 0 1 1\n",
        "header.gr": "a 1 2 1\n",
        "many.gr": "p sp 2 1\na 1 2 1\na 2 1 1\n",
        "plain.txt.gz": "1 2\n",
        "bad.npz": "this is no archive",
        "bad.toml": "engines = = 4\n",
        "key.toml": "kernels = 4\n",
        "value.toml": "engines = 9\n",
        "type.toml": 'engines = "four"\n',
        "preset.toml": 'preset = "hc3"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"1 2\n" * 5000, mtime=0)[:40])
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)))
    save_npz(tmp_path / "rectangle.npz", csr_array(np.ones((2, 3))))
    (tmp_path / "directory").mkdir()
    return tmp_path


def check(command: str, folder: Path, capfd: pytest.CaptureFixture[str], *parts: str) -> None:
    before = sorted(folder.rglob("*"))
    assert main(command.split()) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert err.startswith("cyscc")
    for part in parts:
        assert part in err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("none.txt", ("none.txt: ", "does not exist")),
        ("directory", ("directory: ", "is a directory")),
        ("empty.txt", ("empty.txt: ",)),
        ("comments.txt", ("comments.txt: ",)),
        ("word.txt", ("word.txt:2: ", "abc")),
        ("negative.txt", ("negative.txt:3: ", "-4")),
        ("column.txt", ("column.txt:2: ",)),
        ("huge.txt", ("huge.txt:1: ", "99999999999999999999")),
        ("header.mtx", ("header.mtx:1: ",)),
        ("rectangle.mtx", ("rectangle.mtx:2: ",)),
        ("range.mtx", ("range.mtx:3: ", "3")),
        ("few.mtx", ("few.mtx: ",)),
        ("big.mtx", ("big.mtx", "5000000000", "too many for 32 bits")),
        ("range.gr", ("range.gr:2: ", "0")),
        ("header.gr", ("header.gr:1: ",)),
        ("many.gr", ("many.gr:3: ",)),
        ("cut.txt.gz", ("cut.txt.gz: ", "cut short")),
        ("plain.txt.gz", ("plain.txt.gz: ", "not gzip")),
        ("binary.txt", ("binary.txt:1: ",)),
        ("bad.npz", ("bad.npz: ",)),
        ("rectangle.npz", ("rectangle.npz: ",)),
    ],
)
def test_bad_graph(name: str, parts: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(f"scc {name} --json out.json", folder, capfd, "cyscc scc: ", *parts)


USAGE = {
    "": "cyscc: the following arguments are required: COMMAND",
    "solve g.txt": "cyscc: argument COMMAND: invalid choice: 'solve' "
    "(choose from 'scc', 'bfs', 'generate', 'verilog', 'software', 'reproduce')",
    "scc": "cyscc scc: the following arguments are required: GRAPH",
    "scc g.txt extra": "cyscc: unrecognized arguments: extra",
    "scc g.txt --label x": "cyscc: unrecognized arguments: --label x",
    "scc g.txt --config hc3": "cyscc scc: --config: unknown configuration 'hc3': there are hc2, hc2-1ae, published, "
    "published-1ae, published-bfs, published-bfs-1ae, test, or a .toml file",
    "scc g.txt --config published-bfs": "cyscc scc: --config: published-bfs only searches: it keeps no reach queue to "
    "intersect",
    "scc missing.txt --config published-bfs-1ae": "cyscc scc: --config: published-bfs-1ae only searches: it keeps no "
    "reach queue to intersect",
    "bfs g.txt --source 0 --config published-bfs --roofline": "cyscc bfs: --roofline reads the reach queue, and "
    "published-bfs keeps none",
    "bfs g.txt --source 0 --config published-bfs-1ae --roofline-plot p.svg": "cyscc bfs: --roofline reads the reach "
    "queue, and published-bfs-1ae keeps none",
    "scc g.txt --config none.toml": "cyscc scc: --config: none.toml: No such file or directory",
    "scc g.txt --config bad.toml": "cyscc scc: --config: bad.toml: not TOML: Invalid value (at line 1, column 11)",
    "scc g.txt --config value.toml": "cyscc scc: --config: value.toml: engines must be from 1 to 4, not 9",
    "scc g.txt --config type.toml": "cyscc scc: --config: type.toml: engines must be an integer, not 'four'",
    "scc g.txt --executor iverilog": "cyscc scc: argument --executor: invalid choice: 'iverilog' "
    "(choose from 'compiled', 'amaranth')",
    "scc g.txt --threads 0": "cyscc scc: argument --threads: must be at least 1, not 0",
    "scc g.txt --threads two": "cyscc scc: argument --threads: 'two' is not an integer",
    "scc g.txt --cycle-limit 0": "cyscc scc: argument --cycle-limit: must be at least 1, not 0",
    "scc g.txt --cycle-limit 1.5": "cyscc scc: argument --cycle-limit: '1.5' is not an integer",
    "scc g.txt --queue-slack -1": "cyscc scc: argument --queue-slack: must be at least 0, not -1",
    "scc g.txt --waves w.vcd --wave-window 9:5": "cyscc scc: argument --wave-window: the first cycle must not come "
    "after the last: '9:5'",
    "scc g.txt --waves w.vcd --wave-window 9": "cyscc scc: argument --wave-window: '9' is not FIRST:LAST",
    "scc g.txt --waves w.vcd --wave-window -1:5": "cyscc scc: argument --wave-window: expected one argument",
    "scc g.txt --waves w.vcd --wave-window :5": "cyscc scc: argument --wave-window: '' is not an integer",
    "scc g.txt --wave-window 1:5": "cyscc scc: --wave-window needs --waves",
    "scc g.txt --waves -": "cyscc scc: --waves needs a file",
    "scc g.txt --labels none/out": "cyscc scc: none/out: its directory does not exist (--labels)",
    "scc g.txt --labels directory": "cyscc scc: directory: is a directory (--labels)",
    "scc g.txt --json g.txt/out": "cyscc scc: g.txt/out: its directory does not exist (--json)",
    "scc g.txt --json g.txt": "cyscc scc: --json and the graph are the same file: g.txt",
    "scc g.txt --json out --labels ./out": "cyscc scc: --json and --labels are the same file: out",
    "scc g.txt --json - --labels -": "cyscc scc: --json and --labels are the same file: -",
    "scc g.txt --waves directory": "cyscc scc: directory: is a directory (--waves)",
    "bfs g.txt": "cyscc bfs: the following arguments are required: --source",
    "bfs g.txt --source 3": "cyscc bfs: g.txt: the graph has no vertex 3 (--source)",
    "bfs g.txt --source one": "cyscc bfs: argument --source: 'one' is not an integer",
    "bfs g.txt --source -1": "cyscc bfs: argument --source: must be at least 0, not -1",
    "bfs g.txt --source 1 --levels directory": "cyscc bfs: directory: is a directory (--levels)",
    "generate": "cyscc generate: the following arguments are required: KIND",
    "generate grid -o x": "cyscc generate: argument KIND: invalid choice: 'grid' "
    "(choose from 'random', 'rmat', 'ssca2', 'netlist')",
    "generate random --vertices 0 --degree 1 -o x": "cyscc generate random: argument --vertices: "
    "must be at least 1, not 0",
    "generate random --vertices 2^x --degree 1 -o x": "cyscc generate random: argument --vertices: "
    "'x' is not an integer",
    "generate random --vertices 8 --degree -1 -o x": "cyscc generate random: argument --degree: "
    "must be at least 0, not -1",
    "generate random --vertices 8 -o x": "cyscc generate random: the following arguments are required: --degree",
    "generate random --vertices 8 --degree 1 --seed -1 -o x": "cyscc generate random: argument --seed: "
    "must be at least 0, not -1",
    "generate random --vertices 8 --degree 1": "cyscc generate random: the following arguments are required: "
    "-o/--output",
    "generate random --vertices 8 --degree 1 -o none/x": "cyscc generate: none/x: its directory does not exist "
    "(--output)",
    "verilog": "cyscc verilog: the following arguments are required: -o/--output",
    "verilog -o g.txt": "cyscc verilog: g.txt: is not a directory (--output)",
    "verilog -o none/rtl": "cyscc verilog: none/rtl: its directory does not exist (--output)",
}


@pytest.mark.parametrize("command", USAGE)
def test_bad_usage(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(command, folder, capfd, USAGE[command] + "\n")


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("scc g.txt --config key.toml", ("--config: key.toml: unknown key 'kernels'",)),
        ("scc g.txt --config preset.toml", ("--config: preset.toml: unknown preset 'hc3'",)),
        ("scc g.txt --memory ddr4", ("--memory: ", "'ddr4'")),
        ("scc g.txt --memory fixed:0", ("--memory: ", "fixed:0")),
        ("scc g.txt --memory fixed:x", ("--memory: ", "fixed:x")),
        ("scc g.txt --memory stress:-1", ("--memory: ", "stress:-1")),
        ("scc g.txt --labels /proc/labels", ("/proc/labels: cannot be written: ", "(--labels)")),
        ("generate rmat --vertices 100 --degree 4 -o x.gr", ("cyscc generate: ", "100")),
        ("generate random --vertices 2^40 --degree 4 -o x.gr", ("cyscc generate: ", "1099511627776", "too many")),
        ("generate random --vertices 2^20 --degree 10000 -o x.gr", ("cyscc generate: ", "10485760000", "too many")),
        ("generate random --vertices 1 --degree 4 -o x.gr", ("cyscc generate: ",)),
    ],
)
def test_bad_value(command: str, parts: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(command, folder, capfd, *parts)
