"""Studies and their points. What is refused is among the refusals of `tests.system.outside`."""

from pathlib import Path

import pytest

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.sweep.definition import VARIANT, line_study
from cyscc.hw.config import PRESETS
from cyscc.sim.memory import Fixed, Hc2
from tests.host.experiments.sweep.studies import study_of

GRAPH = 'graph.vertices = "2^5"\ngraph.degree = 4\n'


pytestmark = pytest.mark.usefixtures("folder")


def test_every_value_of_the_grid_meets_every_other_and_every_entry_of_the_list() -> None:
    study = study_of(
        GRAPH
        + """
[grid]
neighbour_depth = [16, 32]
memory = ["hc2", "fixed:75"]
[[points]]
name = "as it is"
[[points]]
name = "published"
issue_interval = 2
blocking_reservation = true
"""
    )
    assert study.axes == {
        "neighbour_depth": [16, 32],
        "memory": ["hc2", "fixed:75"],
        VARIANT: ["as it is", "published"],
    }
    assert [[each.values[name] for name in study.axes] for each in study.points][:2] == [
        [16, "hc2", "as it is"],
        [16, "fixed:75", "as it is"],
    ]
    assert len({each.point.digest for each in study.points}) == len(study.points) == 8
    last = study.points[-1]
    published = PRESETS["published"].replace(neighbour_depth=32)
    assert (last.point.spec.configuration, last.point.spec.profile) == (published, Fixed(latency=75))
    assert study.points[0].values["issue_interval"] == 1, "of a configuration the table has what it comes to"


def test_a_list_of_one_parameter_is_that_parameter() -> None:
    study = study_of(GRAPH + "[[points]]\nsource = 1\n[[points]]\nsource = 3\n")
    assert study.axes == {"source": [1, 3]}


RANDOM, RMAT = '{ vertices = "2^5", degree = 4 }', '{ kind = "rmat", vertices = 48, degree = 4, seed = 2 }'


@pytest.mark.parametrize(
    "text",
    [
        f'[grid]\ngraph = [{RANDOM}, {RMAT}, "f.txt"]',
        f'points = [{{ graph = {RANDOM} }}, {{ graph = {RMAT} }}, {{ graph = "f.txt" }}]',
    ],
    ids=["grid", "points"],
)
def test_graphs_may_be_tables_beside_files(text: str) -> None:
    Path("f.txt").write_text("0 1\n")
    study = study_of(text)
    assert study.axes == {"graph": ["2^5 x 4", "rmat 48 x 4 seed 2", "f.txt"]}
    first, second, file = study.points
    assert first.point.graph == GraphSpec(kind="random", vertices=32, degree=4, seed=0)
    assert second.point.graph == GraphSpec(kind="rmat", vertices=48, degree=4, seed=2)
    assert file.point.graph.identity()["format"] == ".txt"
    assert second.values["graph"] == "rmat 48 x 4 seed 2"
    assert [each.values["graph.vertices"] for each in study.points] == [32, 48, None]
    assert [each.values.get("graph.kind") for each in study.points] == ["random", "rmat", None]


def test_graphs_that_are_tables_meet_what_they_leave_open() -> None:
    study = study_of(
        "graph.degree = 4\n[grid]\ngraph = [{ vertices = 16 }, { kind = 'rmat', vertices = 16 }]\nseed = [1, 2]\n"
    )
    assert study.axes == {"graph": ["2^4 vertices", "rmat 2^4 vertices"], "graph.seed": [1, 2]}
    assert [each.point.graph for each in study.points] == [
        GraphSpec(kind=kind, vertices=16, degree=4, seed=seed) for kind in ("random", "rmat") for seed in (1, 2)
    ]


def test_entries_of_several_parameters_have_a_graph_each() -> None:
    study = study_of(
        """
[[points]]
engines = 1
graph = { vertices = 16, degree = 2 }
[[points]]
graph = { kind = "rmat", vertices = 16, degree = 2 }
"""
    )
    assert study.axes == {VARIANT: ["graph=2^4 x 2, engines=1", "graph=rmat 2^4 x 2"]}


def test_a_study_may_have_one_point() -> None:
    study = study_of('graph.kind = "rmat"\nalgorithm = "scc"\n' + GRAPH + "[memory]\nprofile = 'hc2'\nbank_busy = 20\n")
    (point,) = (each.point for each in study.points)
    assert point.graph == GraphSpec(kind="rmat", vertices=32, degree=4, seed=0)
    assert point.spec.profile == Hc2(bank_busy=20)
    assert point.spec.algorithm == "scc"


def test_points_are_named_by_all_that_goes_in_and_nothing_else() -> None:
    (one,) = (each.point for each in study_of(GRAPH + 'title = "one"\nneighbour_depth = 64').points)
    Path("deep.toml").write_text("neighbour_depth = 64\n")
    (same,) = (each.point for each in study_of(GRAPH + 'config = "deep.toml"\nmemory.bank_busy = 15').points)
    assert same.digest == one.digest
    others = [
        "seed = 1",
        'graph.kind = "rmat"',
        "source = 0",
        'algorithm = "scc"',
        "memory.bank_busy = 16",
        "word_depth = 64",
        "simplify = true",
        "queue_slack = 5",
        "cycle_limit = 5000",
        "record_interval = 64",
        'executor = "amaranth"',
    ]
    digests = {study_of(f"{GRAPH}neighbour_depth = 64\n{other}\n").points[0].point.digest for other in others}
    assert len(digests | {one.digest}) == len(others) + 1


def test_a_file_counts_by_its_contents() -> None:
    text = 'graph = "graphs/{}.txt"\n'
    Path("graphs").mkdir()
    for name, edges in (("a", "0 1\n"), ("b", "0 1\n"), ("c", "1 0\n")):
        Path("graphs", f"{name}.txt").write_text(edges)
    digests = [study_of(text.format(name)).points[0].point.digest for name in "abc"]
    assert digests[0] == digests[1] != digests[2]


def test_a_study_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("0 1\n1 0\n")
    settings = {"config": "test", "memory": ["hc2", "fixed:75"], "memory.bank_busy": 20, "source": 1}
    study = line_study(["g.txt"], {**settings, "memory": "hc2", "word_depth": {"from": 8, "to": 32, "times": 2}})
    assert (study.name, study.title) == ("g-word_depth", "Sweep of g.txt over word_depth")
    text = 'graph = "g.txt"\nconfig = "test"\nmemory.bank_busy = 20\nsource = 1\n[grid]\nword_depth = [8, 16, 32]'
    assert [each.point for each in study.points] == [each.point for each in study_of(text).points]
    several = line_study(["g.txt", "rmat:2^5:4:3"], {"config": "test"})
    assert several.axes == {"graph": ["g.txt", "rmat 2^5 x 4 seed 3"]}
    assert several.name == "graph"
    (first, second) = line_study(["random:2^5"], {"config": "test", "graph.degree": [2, 4]}).points
    assert (first.point.graph.label, second.point.graph.edges) == ("random, degree 2, 2^5 vertices", 128)
    with pytest.raises(ValueError, match=r"^nothing varies: a sweep has several values of a parameter, or several "):
        line_study(["g.txt"], {"config": "test"})
    with pytest.raises(
        ValueError, match=r"^memory=hc2: graph.degree is missing: a graph is a file, or has vertices and degree$"
    ):
        line_study(["random:2^5"], {"memory": ["hc2", "fixed:75"]})
    Path("random").write_text("0 1\n1 0\n")
    assert line_study(["random"], settings | {"memory.bank_busy": [5, 6], "memory": "hc2"}).name.startswith("random-")
