"""Random runs on small machines, made in several ways: a few of a campaign, always the same ones."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.memory import profile_from
from tests.fuzz.runs import RUNS
from tests.fuzz.setups import KNOWN, SMALL


def test_runs(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for index in range(70):
        run = RUNS.draw(1, index)
        if run.machine not in SMALL:
            run = replace(run, machine=SMALL[0])
        folder = tmp_path / str(index)
        folder.mkdir()
        ways = ["resumed"] if index % 10 == 0 else run.ways[:1] if "threads" in run.ways else []
        finding = RUNS.examine(replace(run, ways=ways), folder)
        assert finding.good, finding
        counts.update([finding.kind])
        counts.update(finding.counts)
    assert counts["right"] > 65
    assert min(counts["with threads"], counts["resumed"]) > 2


def test_what_is_drawn_can_be() -> None:
    runs = [RUNS.draw(2, index) for index in range(0, 60_000, 60)]
    for run in runs:
        AcceleratorConfig.from_mapping(run.machine)
        profile_from(run.memory)
        assert all(0 <= end < run.vertices for edge in run.edges for end in edge)
    machines = {str(run.machine) for run in runs}
    assert len(machines) == len(KNOWN) + 5
    assert runs == [RUNS.draw(2, index) for index in range(0, 60_000, 60)]
    for each in RUNS.simpler(runs[0]):
        assert each != runs[0]
