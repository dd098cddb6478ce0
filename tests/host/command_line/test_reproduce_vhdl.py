"""`cyscc reproduce vhdl` as a whole, on a table of the user's, and refusals."""

import json
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main

HEAD = "graph,latency,level,cycles,frontier,pushed,duplicates,edges"
VHDL = ["reproduce", "vhdl", "--reference", "mine.csv"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(f"{HEAD}\npair,75,1,300,1,1,0,1\npair,75,2,310,1,0,0,1\n")
    (tmp_path / "pair.txt").write_text("0 1\n1 0\n")
    return tmp_path


def test_a_table_of_the_user(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*VHDL, "--jobs", "1", "-o", "out"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert Path("out/vhdl.md").read_text().startswith("# The published hardware and the simulation\n")
    assert out.splitlines()[-1] == "written: out/vhdl.json, out/vhdl.md, out/vhdl.svg"
    document = json.loads(Path("out/vhdl.json").read_text())
    (run,) = document["runs"]
    assert run["levels"]["published"] == [300, 310]
    assert len(run["levels"]["simulated"]) == 2
    assert (run["vertices"], run["edges_read"], run["edges_compared_in"], run["edges_differ_in"]) == (
        {"published": 2, "simulated": 2},
        {"published": 2, "simulated": 2},
        [1, 2],
        [],
    )


def test_refusals(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "pair.txt").unlink()
    assert main(VHDL) == 2
    cause = "no graph pair: there is no pair.txt, .gr, .mtx or .npz, nor one gzipped"
    assert capfd.readouterr() == ("", f"cyscc reproduce: .: {cause}\n")
    for words, message in (
        (["--seed", "1"], "--seed: vhdl has no such option: it has --quick --configs published-vhdl-1ae"),
        (["--memory", "hc2"], "--memory: vhdl has no such option"),
        (["--configs", "hc2"], "--configs: unknown machine 'hc2': there are hc2-1ae, "),
        (["--latencies", "60", "--quick"], "--quick and --latencies exclude each other"),
    ):
        assert main([*VHDL, *words]) == 2
        assert message in capfd.readouterr().err
