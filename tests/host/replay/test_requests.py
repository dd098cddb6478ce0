"""Requests of a run in a file: all of a place, as they arrive, and what a profile makes of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cyscc
from cyscc.host.graph.generators import random_graph
from cyscc.host.output.errors import InputError
from cyscc.host.record.traffic import COLUMNS, read_traffic
from cyscc.sim.memory import parse_profile

MEMORIES = ("hbm2", "ddr4", "hc2", "fixed:75")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return recorded searches by memory."""
    folder = tmp_path_factory.mktemp("runs")
    graph = folder / "graph.npz"
    cyscc.write_graph(random_graph(1 << 9, 6, seed=4), graph)
    made = {}
    for memory in MEMORIES:
        place = folder / memory.replace(":", "-")
        made[memory] = cyscc.bfs(graph, 1, config="test", memory=memory, record=place), place
    return made


@pytest.mark.parametrize("memory", MEMORIES)
def test_all_requests_of_a_run_are_there(runs: dict[str, Any], memory: str, tmp_path: Path) -> None:
    run, folder = runs[memory]
    path = tmp_path / "all.csv"
    answer = cyscc.replay(folder, "0:1000000", requests=path)
    rows = pd.read_csv(path)
    assert tuple(rows) == COLUMNS
    counted = run.document()["statistics"]["memory"]
    told = counted["reads"]["total"], counted["writes"]["total"]
    assert (np.count_nonzero(rows["write"] == 0), np.count_nonzero(rows["write"])) == told
    assert answer.document()["number"] == len(rows)
    assert rows["clock"].is_monotonic_increasing
    profile = parse_profile(memory)
    assert np.array_equal(rows["channel"], profile.channel_of(rows["address"].to_numpy()))
    if memory == "hc2":
        # Requests go to their controllers for 30 cycles.
        assert rows["clock"].iloc[0] >= 30
        assert rows["channel"].nunique() == profile.controllers  # type: ignore[attr-defined]
    if memory in ("hbm2", "ddr4"):
        # Nothing arrives sooner than by the way there, at the edge of a clock.
        way = -(-profile.request_travel * profile.memory_mhz // profile.machine_mhz) + profile.way_there  # type: ignore[attr-defined]
        assert rows["clock"].iloc[0] >= way
        assert rows["channel"].nunique() > 2


def test_a_place_is_part_of_the_whole(runs: dict[str, Any], tmp_path: Path) -> None:
    _, folder = runs["hbm2"]
    cyscc.replay(folder, "0:1000000", requests=tmp_path / "all.csv")
    cyscc.replay(folder, "level=2", requests=tmp_path / "level.parquet")
    whole, part = pd.read_csv(tmp_path / "all.csv"), pd.read_parquet(tmp_path / "level.parquet")
    assert 0 < len(part) < len(whole)
    merged = whole.merge(part.drop_duplicates(), on=list(COLUMNS), how="left", indicator=True)
    assert (merged["_merge"] == "both").sum() >= len(part)


def test_requests_are_played_again(runs: dict[str, Any], tmp_path: Path) -> None:
    _, folder = runs["hbm2"]
    path = tmp_path / "level.csv"
    cyscc.replay(folder, "level=3", requests=path)
    own = cyscc.reproduce("dram", requests=str(path), memory="hbm2", output=tmp_path / "out").document()
    assert set(own) >= {"rate_per_clock", "read_mean_clocks", "read_p95_clocks", "row_hit_share"}
    assert own["read_mean_clocks"] >= 15
    without = tmp_path / "map.csv"
    pd.read_csv(path).drop(columns="channel").to_csv(without, index=False)
    again = cyscc.reproduce("dram", requests=str(without), memory="hbm2", output=tmp_path / "out").document()
    names = ("rate_per_clock", "read_mean_clocks", "read_p95_clocks", "row_hit_share")
    assert [own[name] for name in names] == [again[name] for name in names]
    closed = cyscc.reproduce("dram", requests=str(path), memory="hbm2", outstanding=64, output=tmp_path / "out")
    assert closed.document()["rate_per_clock"] > own["rate_per_clock"]
    with pytest.raises(InputError, match=r"level\.csv: memory ddr4 has no channel \d+: it has 4$"):
        cyscc.reproduce("dram", requests=str(path), memory="ddr4", output=tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("address,write\n8,0\n", "has no column clock: a file of requests has clock, address, write, channel"),
        ("clock,address\n1,8\n", "has no column write: a file of requests has clock, address, write, channel"),
        ("clock,address,write\n", "has no requests"),
        ("clock,address,write\n1,8,0\n2,x,0\n", "3: address must be a whole number from 0 to 281474976710655, not x"),
        ("clock,address,write\n1,8,2\n", "2: write must be a whole number from 0 to 1, not 2"),
        ("clock,address,write\n1,8,0\n-1,8,0\n", "3: clock must be a whole number from 0 to 1099511627775, not -1"),
        ("clock,address,write\n1,,0\n", "2: address must be a whole number from 0 to 281474976710655, not nan"),
        ("", "No columns to parse from file"),
    ],
)
def test_a_file_that_is_no_list_of_requests(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_traffic(str(path), clocks=True)
    assert str(caught.value) in (f"{path}: {message}", f"{path}:{message}")


def test_requests_are_of_a_place(runs: dict[str, Any], tmp_path: Path) -> None:
    _, folder = runs["hc2"]
    with pytest.raises(ValueError, match="requests"):
        cyscc.replay(folder, requests=tmp_path / "all.csv")
    with pytest.raises(ValueError, match="requests"):
        cyscc.replay(folder, 100, tmp_path / "all.fst", requests=tmp_path / "all.csv")
