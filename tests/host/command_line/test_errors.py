"""Bad input and bad usage: exit status 2 and one line that names the place and the cause."""

from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.hw.config import PRESETS
from tests.host.command_line.conftest import Workshop
from tests.host.fake_coprocessor import FakeCoprocessor


@pytest.fixture(autouse=True)
def inputs(folder: Path, workshop: Workshop) -> Path:
    """Return the working directory, with good and bad files; no machine may be made."""

    def make() -> FakeCoprocessor:
        raise AssertionError("the machine was made in spite of bad input")

    workshop.make = make
    texts = {
        "g.txt": "1 2\n2 1\n",
        "column.txt": "1 2\n3\n",
        "big.mtx": "%%MatrixMarket matrix coordinate pattern general\n5000000000 5000000000 1\n1 2\n",
        "plain.txt.gz": "1 2\n",
        "bad.npz": "this is no archive",
        "bad.toml": "engines = = 4\n",
        "value.toml": "engines = 9\n",
        "deep.toml": "a = " + "[" * 10_000,
        "once.toml": "remembered_ids = 256\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "directory").mkdir()
    (folder / "endless.toml").symlink_to("/dev/zero")
    (folder / "loop").symlink_to("loop")
    return folder


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


# What can be wrong in a file is tested where files are read: here, that each kind of reader names file and line.
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("none.txt", ("none.txt: ", "does not exist")),
        ("directory", ("directory: ", "is a directory")),
        ("column.txt", ("column.txt:2: ",)),
        ("big.mtx", ("big.mtx", "5000000000", "too many for 32 bits")),
        ("plain.txt.gz", ("plain.txt.gz: ", "not gzip")),
        ("bad.npz", ("bad.npz: ",)),
    ],
)
def test_bad_graph(name: str, parts: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(f"scc {name} --json out.json", folder, capfd, "cyscc scc: ", *parts)


USAGE = {
    "": "cyscc: the following arguments are required: COMMAND",
    "sc g.txt": "cyscc: argument COMMAND: invalid choice: 'sc' (--help lists all 19); did you mean scc?",
    "--versoin": "cyscc: unrecognized arguments: --versoin; did you mean --version?",
    "scc": "cyscc scc: the following arguments are required: GRAPH",
    "scc g.txt extra": "cyscc: unrecognized arguments: extra",
    "scc g.txt --label=x": "cyscc scc: unrecognized arguments: --label; did you mean --labels?",
    "scc g.txt --zzz x": "cyscc scc: unrecognized arguments: --zzz",
    "bfs g.txt --sorce 1": "cyscc bfs: unrecognized arguments: --sorce; did you mean --source?",
    "scc g.txt --config hc3": "cyscc scc: --config: unknown configuration 'hc3': there are "
    f"{', '.join(PRESETS)}, or a .toml file",
    "scc g.txt --config published-bfs": "cyscc scc: --config: published-bfs only searches: it keeps no reach queue to "
    "intersect",
    "bfs g.txt --source 0 --config published-bfs --roofline": "cyscc bfs: --roofline: published-bfs only searches: "
    "it keeps no reach queue",
    "bfs g.txt --source 0 --config published-bfs-1ae --roofline-plot p.svg": "cyscc bfs: --roofline: published-bfs-1ae "
    "only searches: it keeps no reach queue",
    "scc g.txt --config none.toml": "cyscc scc: --config: none.toml: No such file or directory",
    "scc g.txt --config bad.toml": "cyscc scc: --config: bad.toml: not TOML: Invalid value (at line 1, column 11)",
    "scc g.txt --config value.toml": "cyscc scc: --config: value.toml: engines must be an integer from 1 to 4, not 9",
    "scc g.txt --config deep.toml": "cyscc scc: --config: deep.toml: not TOML: nested too deeply",
    "scc g.txt --memory deep.toml": "cyscc scc: --memory: deep.toml: not TOML: nested too deeply",
    "scc g.txt --memory endless.toml": "cyscc scc: --memory: endless.toml: is no plain file",
    "verilog --config endless.toml -o rtl": "cyscc verilog: --config: endless.toml: is no plain file",
    "scc g.txt --set x": "cyscc scc: --set: 'x' is not KEY=VALUE",
    "scc g.txt --set engines=5": "cyscc scc: --set: engines must be an integer from 1 to 4, not 5",
    "scc g.txt --set bfs_only=true": "cyscc scc: --config: hc2 (bfs_only=true) only searches: it keeps no reach queue "
    "to intersect",
    "bfs g.txt --source 1 --set memory.bank_busy=0": "cyscc bfs: --set: memory bank_busy must be an integer from 1 to "
    "10000, not 0",
    "verilog --set memory.links=1 -o rtl": "cyscc verilog: --set: memory.links: this command has no memory",
    "verilog --set word_depth=3 -o rtl": "cyscc verilog: --set: word_depth must be an integer from 4 to 512, not 3",
    "generate netlist --set engines=0 -o x": "cyscc generate: --set: engines must be an integer from 1 to 4, not 0",
    "synth --set engines=0": "cyscc synth: --set: engines must be an integer from 1 to 4, not 0",
    "timing --set engines=0": "cyscc timing: --set: engines must be an integer from 1 to 4, not 0",
    "reproduce table1 --set engines=1": "cyscc reproduce: --set: engines: this command has no configuration",
    "reproduce table1 --set memory.links=9": "cyscc reproduce: --set: memory links must be an integer from 1 to 8, "
    "not 9",
    "scc loop": "cyscc scc: loop: cannot be read: Too many levels of symbolic links",
    "scc g.txt --executor compile": "cyscc scc: argument --executor: invalid choice: 'compile' "
    "(choose from 'compiled', 'amaranth'); did you mean compiled?",
    "scc g.txt --threads 0": "cyscc scc: argument --threads: must be at least 1, not 0",
    "scc g.txt --threads two": "cyscc scc: argument --threads: 'two' is not an integer",
    "scc g.txt --cycle-limit 0": "cyscc scc: argument --cycle-limit: must be at least 1, not 0",
    "scc g.txt --cycle-limit 1.5": "cyscc scc: argument --cycle-limit: '1.5' is not an integer",
    "scc g.txt --cycle-limit 1e-3": "cyscc scc: argument --cycle-limit: '1e-3' is not an integer",
    "scc g.txt --cycle-limit nan": "cyscc scc: argument --cycle-limit: 'nan' is not an integer",
    "scc g.txt --cycle-limit 1e999": "cyscc scc: argument --cycle-limit: must be at most 18446744073709551616, "
    "not 1e999",
    "scc g.txt --queue-slack -1": "cyscc scc: argument --queue-slack: must be at least 0, not -1",
    "scc g.txt --waves w.vcd --wave-window 9:5": "cyscc scc: argument --wave-window: the first cycle must not come "
    "after the last: '9:5'",
    "scc g.txt --waves w.vcd --wave-window 9": "cyscc scc: argument --wave-window: '9' is not FIRST:LAST",
    "scc g.txt --waves w.vcd --wave-window -1:5": "cyscc scc: argument --wave-window: expected one argument",
    "scc g.txt --waves w.vcd --wave-window :5": "cyscc scc: argument --wave-window: '' is not an integer",
    "scc g.txt --wave-window 1:5": "cyscc scc: --wave-window needs --waves",
    "scc g.txt --waves -": "cyscc scc: argument --waves: needs a file, not standard output",
    "scc g.txt --scope engine0": "cyscc scc: --scope needs --waves",
    "scc g.txt --wave-view": "cyscc scc: --wave-view needs --waves",
    "scc g.txt --waves w.ghw": "cyscc scc: argument --waves: writes FST and VCD files, "
    "which end in .fst or .vcd: w.ghw",
    "scc g.txt --labels none/out": "cyscc scc: none/out: its directory does not exist (--labels)",
    "scc g.txt --labels directory": "cyscc scc: directory: is a directory (--labels)",
    "scc g.txt --json g.txt/out": "cyscc scc: g.txt/out: its directory does not exist (--json)",
    "scc g.txt --json g.txt": "cyscc scc: --json and the graph are the same file: g.txt",
    "software tarjan g.txt --json g.txt": "cyscc software: --json and the graph are the same file: g.txt",
    "scc g.txt --json out --labels ./out": "cyscc scc: --json and --labels are the same file: out",
    "scc g.txt --json - --labels -": "cyscc scc: --json and --labels are the same file: -",
    "scc g.txt --waves directory": "cyscc scc: directory: is a directory (--waves)",
    "bfs g.txt": "cyscc bfs: the following arguments are required: --source",
    "bfs g.txt --source 3": "cyscc bfs: g.txt: the graph has no vertex 3 (--source)",
    "bfs g.txt --source one": "cyscc bfs: argument --source: 'one' is not an integer",
    "bfs g.txt --source -1": "cyscc bfs: argument --source: must be at least 0, not -1",
    "bfs g.txt --source 1 --roofline-plot r.jpg": "cyscc bfs: r.jpg: a figure is .svg, .png or .pdf, not '.jpg'",
    "bfs g.txt --source 1 --levels directory": "cyscc bfs: directory: is a directory (--levels)",
    "generate": "cyscc generate: the following arguments are required: KIND",
    "generate grid -o x": "cyscc generate: argument KIND: invalid choice: 'grid' "
    "(choose from 'random', 'rmat', 'ssca2', 'gnm', 'netlist')",
    "generate random --vertices 0 --degree 1 -o x": "cyscc generate: argument --vertices: must be at least 1, not 0",
    "generate random --vertices 2^x --degree 1 -o x": "cyscc generate: argument --vertices: '2^x' is not an integer",
    "generate random --vertices 2^-1 --degree 1 -o x": "cyscc generate: argument --vertices: '2^-1' is not an integer",
    "generate random --vertices 8 --degree -1 -o x": "cyscc generate: argument --degree: must be at least 0, not -1",
    "generate random --vertices 8 -o x": "cyscc generate: --degree: a graph of the kind random needs one",
    "generate random --vertices 8 --degree 1 --seed -1 -o x": "cyscc generate: argument --seed: "
    "must be at least 0, not -1",
    "generate random --vertices 8 --degree 1": "cyscc generate: the following arguments are required: --output",
    "generate random --vertices 8 --degree 1 -o none/x": "cyscc generate: none/x: its directory does not exist "
    "(--output)",
    "verilog": "cyscc verilog: the following arguments are required: -o/--output",
    "verilog -o g.txt": "cyscc verilog: g.txt: is not a directory (--output)",
    "verilog --top axi --outstanding-writes 6 -o rtl": "cyscc verilog: --outstanding-writes: must be a power of "
    "two from 4 to 512, not 6",
    "verilog --outstanding-reads 8 -o rtl": "cyscc verilog: --outstanding-reads needs --top axi: "
    "only it has AXI masters",
    "verilog --top axi --outstanding-reads 0 -o rtl": "cyscc verilog: argument --outstanding-reads: "
    "must be at least 1, not 0",
    "software dijkstra g.txt": "cyscc software: argument ALGORITHM: invalid choice: 'dijkstra' "
    "(choose from 'kosaraju', 'tarjan', 'hong', 'li', 'multipartition', 'quach', 'fbt')",
    "software tarjan none.txt": "cyscc software: none.txt: does not exist",
    "software hong g.txt --json no/out.json": "cyscc software: no/out.json: its directory does not exist (--json)",
    "verilog -o none/rtl": "cyscc verilog: none/rtl: its directory does not exist (--output)",
}


@pytest.mark.parametrize("command", USAGE)
def test_bad_usage(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(command, folder, capfd, USAGE[command] + "\n")


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("scc g.txt --memory ddr4", ("--memory: ", "'ddr4'")),
        ("scc g.txt --labels /proc/labels", ("/proc/labels: cannot be written: ", "(--labels)")),
        ("generate rmat --vertices 100 --degree 4 -o x.gr", ("cyscc generate: ", "100")),
    ],
)
def test_bad_value(command: str, parts: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(command, folder, capfd, *parts)
