"""Selections behind explanations: groups, stacks, evidence and comparisons of synthetic records with known sums."""

from pathlib import Path

import pytest

from cyscc.host.analysis.explain.evidence import Evidence
from cyscc.host.analysis.explain.stacks import groups_of, stacks
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import ENDING, GROWING, SATURATED, Record
from tests.record.synthetic import Shape, write_record
from tests.refusals import refused

SEARCH = Shape(levels=(150, 700, 3000, 400, 120))
COMPONENTS = Shape(iterations=3, restarted=True)


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return Record(write_record(tmp_path_factory.mktemp("record") / "search", SEARCH))


@pytest.fixture(scope="module")
def components(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return Record(write_record(tmp_path_factory.mktemp("record") / "components", COMPONENTS))


def test_a_search_has_three_parts(search: Record) -> None:
    assert search.instructions["part"].tolist() == [GROWING, GROWING, SATURATED, ENDING, ENDING]
    assert [str(group) for group, _ in groups_of(search.instructions)] == [
        "forward, growing levels",
        "forward, saturated levels",
        "forward, ending levels",
    ]


def test_a_search_that_never_fills_the_machine_ends_after_its_peak(tmp_path: Path) -> None:
    small = Record(write_record(tmp_path / "small", Shape(levels=(60, 150, 80, 60))))
    assert small.instructions["part"].tolist() == [GROWING, GROWING, ENDING, ENDING]


def test_attempts_that_were_given_up_do_not_count(components: Record) -> None:
    cycles = components.document["cycles"]
    assert cycles["restarted"] > 0
    assert components.instructions["cycles"].sum() == cycles["instructions"]


def test_a_selection(components: Record) -> None:
    rows = components.select(phase="backward", level=2, iteration=3)
    assert [(row.phase, row.level, row.iteration) for row in rows.itertuples()] == [("backward", 2, 3)]
    assert len(components.select(level=2)) == 6
    with refused(InputError, f"{components.folder}: has no phase=forward,level=9"):
        components.select(phase="forward", level=9)


def test_stacks_of_intervals_are_those_in_which_the_instructions_ran(search: Record) -> None:
    rows = search.select(level=2)
    start, cycles = (int(rows[name].iloc[0]) for name in ("start", "cycles"))
    found = stacks(search, rows, "interval")["cycle"].tolist()
    assert found == list(range(start // 64 * 64, start + cycles, 64))


def test_evidence(search: Record) -> None:
    evidence = Evidence(search, search.select(level=2))
    assert sum(evidence.stack.values()) == pytest.approx(evidence.cycles)
    assert evidence.bank == evidence.hottest(2)[0]
    assert evidence.bank is not None
    assert evidence.bank.array == "words"
    assert evidence.latency is not None
    assert evidence.latency.least == 75
    parameters = ["frontier_depth", "neighbour_depth", "word_depth", "visit_depth"]
    assert [fifo.parameter for fifo in evidence.fifos] == parameters
    assert evidence.fifos[-1].under_way is None
    assert evidence.turn == 16  # two AEs of two kernels


def test_a_memory_without_banks(tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "fixed", Shape(memory="fixed:75")))
    evidence = Evidence(record, record.instructions)
    assert evidence.hottest(3) == []
    assert (evidence.bank, evidence.links, evidence.banks_use) == (None, None, 0.0)
