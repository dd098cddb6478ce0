"""Additions as described in the guide for developers: few files each, which take effect everywhere.

One copy of the tree gets a cause, a counter, an option of the hardware and one of runs; its machine is built once.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cyscc.host.command_line.main import main
from tests.conftest import ROOT

ADDITIONS = tomllib.loads(Path(__file__).with_name("additions.toml").read_text())
"""Texts to add to files of the product, and texts of the BFS kernel to replace."""

GRAPH = "".join(f"{vertex} {vertex + step}\n" for vertex in range(40) for step in (1, 2, 3, 5, 8) if vertex + step < 40)
SEARCH = ["bfs", "g.txt", "--config", "test", "--memory", "fixed:20", "--quiet"]

SCRIPT = """
import contextlib, io, json, sys
import cyscc
from cyscc.host.command_line.main import main

statuses, printed = [], []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
        statuses.append(main(words))
    printed.append(text.getvalue())
graph = cyscc.read_graph("g.txt")
found = cyscc.bfs(graph, 39, config=cyscc.configuration("test", halved_words=True), memory="fixed:20", backwards=True)
json.dump({"statuses": statuses, "printed": printed, "python": found.document()}, sys.stdout)
"""


def added(folder: Path) -> Path:
    """Return a copy of the product with the addition."""
    tree = folder / "tree"
    for room in ("hw", "sim", "host", "cyscc"):
        shutil.copytree(ROOT / room, tree / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, place in ADDITIONS["added"].items():
        path = tree / name
        parts = path.read_text().split(place["before"])
        assert len(parts) == 2, f"{name} has one place before which to add"
        path.write_text(parts[0] + place["text"] + place["before"] + parts[1])
    path = tree / "hw/bfs/kernel.py"
    for old, new in ADDITIONS["changed"].items():
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))
    return tree


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("additions")
    (folder / "g.txt").write_text(GRAPH)
    (folder / "sweep.toml").write_text(
        'graph = "g.txt"\nconfig = "test"\nmemory = "fixed:20"\nalgorithm = "bfs"\nsource = 39\nhalved_words = true\n'
        "[grid]\nbackwards = [false, true]\n"
    )
    run = [*SEARCH, "--source", "39", "--set", "halved_words=true", "--backwards"]
    kept = ["--checkpoint", "kept", "--checkpoint-every", "100cycles"]
    commands = [
        ["bfs", "--help"],
        ["scc", "--help"],
        [*run, "--json", "json", "--record", "record", "--record-interval", "64"],
        ["report", "record", "-o", "page.html"],
        ["explain", "record", "--json", "explained"],
        [*run, *kept, "--cycle-limit", "500"],
        ["bfs", "--resume", "kept", "--cycle-limit", "100000", "--json", "resumed", "--quiet"],
        ["sweep", "sweep.toml", "-o", "swept", "--quiet"],
    ]
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(commands)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(added(folder))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return folder, json.loads(made.stdout)


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_commands_succeed(ran: tuple[Path, dict[str, Any]]) -> None:
    _, found = ran
    assert found["statuses"] == [0, 0, 0, 0, 0, 3, 0, 0], found["printed"]


def test_additions_are_found_everywhere(ran: tuple[Path, dict[str, Any]]) -> None:
    folder, found = ran
    for helped in found["printed"][:2]:
        assert "--backwards" in helped
        assert "run against the edges" in helped
    result = document(folder / "json")
    assert result["options"]["backwards"] is True
    assert result["configuration"]["halved_words"] is True
    assert found["python"]["options"]["backwards"] is True
    assert found["python"]["cycles"] == result["cycles"]
    record = document(folder / "record" / "record.json")
    assert record["run"]["options"]["backwards"] is True
    assert record["configuration"]["halved_words"] is True
    assert record["causes"]["bfs"]["examining"] > 0
    assert "examining" in pq.read_schema(folder / "record" / "kernels.parquet").names
    page = (folder / "page.html").read_text()
    for text in ("examining a neighbour", "halved_words=true", ">--backwards<"):
        assert text in page, text
    swept = pq.read_table(next((folder / "swept").rglob("*.parquet"))).to_pylist()
    assert [row["backwards"] for row in swept] == [False, True]


def test_additions_have_their_effect(ran: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = ran
    monkeypatch.chdir(folder)
    result = document(folder / "json")
    counted, causes = result["statistics"]["counters"]["bfs"], result["statistics"]["causes"]["bfs"]
    assert 0 < causes["examining"] < counted["items"]
    assert counted["expanded"] == counted["entries"] > 0
    assert result["reached"] == 40, "against the edges everything is reached from the last vertex"
    assert document(folder / "resumed")["cycles"] == result["cycles"]
    (folder / "turned.txt").write_text("".join(f"{b} {a}\n" for a, b in map(str.split, GRAPH.splitlines())))
    assert main([SEARCH[0], "turned.txt", *SEARCH[2:], "--source", "39", "--json", "unchanged"]) == 0
    unchanged = document(folder / "unchanged")
    assert (unchanged["reached"], len(unchanged["levels"])) == (40, len(result["levels"]))
    assert unchanged["cycles"]["total"] < result["cycles"]["total"], "with half the places"
