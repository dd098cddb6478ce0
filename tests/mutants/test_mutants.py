"""Mutants depend on the seed only, and a campaign can be continued."""

import json
from pathlib import Path

import pytest

from cyscc.hw.intersection.start_finder import StartFinder
from cyscc.hw.queue_bank import QueueBank
from tests.formal.table import PROOFS
from tests.mutants.__main__ import PRESETS
from tests.mutants.campaign import tell_apart
from tests.mutants.design import Design, component_design, machine_design
from tests.mutants.faults import Mutant, list_mutants, prepare, write_selectable
from tests.mutants.proofs import MutantProof
from tests.mutants.sources import try_sources
from tests.mutants.verdicts import Results, Stage, Verdict, summary


@pytest.mark.long
def test_mutants_are_as_many_as_wanted_by_the_seed_and_of_no_clock(tmp_path: Path) -> None:
    design = component_design(StartFinder())
    prepare(design, tmp_path)
    mutants = list_mutants(design, tmp_path, seed=1, count=30)
    assert [mutant.name for mutant in mutants] == [f"intersection/start_finder:{n}" for n in range(1, 31)]
    assert len({mutant.options for mutant in mutants}) == 30
    assert {mutant.option("port") for mutant in mutants} <= {"A", "B", "S", "Y", "D", "EN", "SRST"}
    assert any("(hw/intersection/start_finder.py:" in mutant.place for mutant in mutants)
    assert list_mutants(design, tmp_path, seed=1, count=30) == mutants
    assert list_mutants(design, tmp_path, seed=2, count=30) != mutants
    assert 30 < len(list_mutants(design, tmp_path, seed=1, count=100_000)) < 1000


@pytest.mark.long
def test_ports_without_a_clock_have_none_of_clocked_ones(tmp_path: Path) -> None:
    """Yosys takes no memory whose port has a clock's other pins, but no clock."""
    design = component_design(QueueBank(2, queues=1, depth=4))
    prepare(design, tmp_path)
    mutants = list_mutants(design, tmp_path, seed=1, count=1000)
    cells = json.loads((tmp_path / "base.json").read_text())["modules"]["queue_bank"]["cells"]
    pins = {mutant.option("port") for mutant in mutants if cells[mutant.option("cell")]["type"] == "$memrd_v2"}
    assert pins == {"ADDR", "DATA"}
    folder = tmp_path / "selectable"
    folder.mkdir()
    assert "mutsel" in write_selectable("queue_bank", folder, mutants).read_text()


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Design]:
    """All machines, as written to a folder."""
    folder = tmp_path_factory.mktemp("machines")
    design = machine_design(PRESETS)
    prepare(design, folder)
    return folder, design


@pytest.mark.long
def test_machines_share_what_is_the_same(machines: tuple[Path, Design]) -> None:
    _, design = machines
    small, fast = (design.machines[preset] for preset in PRESETS)
    assert (small.top, fast.top) == ("accelerator", "accelerator_1")
    assert {"intersection_kernel", "dispatch", "queue"} <= small.inside & fast.inside
    assert {"bfs_kernel", "bfs_slot_allocator"} <= small.inside - fast.inside
    assert {"switch_kernel_slice", "exchange_exchange_slice", "bfs_slot_station"} <= fast.inside - small.inside
    assert design.texts.keys() - small.inside - fast.inside >= {"bfs_kernel_1", "bfs_copy_filter", "all"}


@pytest.mark.long
def test_a_proof_is_also_of_a_part_with_outputs_for_simulation_only(
    machines: tuple[Path, Design], tmp_path: Path
) -> None:
    folder, design = machines
    mutants = list_mutants(design, folder, seed=1, count=300)
    own = [mutant for mutant in mutants if mutant.module == "bfs_neighbour_reader"]
    proof = MutantProof(next(proof for proof in PROOFS if proof.name == "neighbour-reader"), folder, tmp_path)
    covered = {mutant for mutant in own if proof.covers(mutant)}
    assert {mutant.option("wire") for mutant in own if mutant not in covered} >= {"starved"}
    assert {mutant.option("wire") for mutant in covered} >= {"words_payload", "ahead"}


@pytest.mark.long
@pytest.mark.parametrize(("preset", "file"), [("test", "bfs/slot_allocator"), ("fast-test", "switch/skid")])
def test_runs_of_each_machine_find_mutants(machines: tuple[Path, Design], preset: str, file: str) -> None:
    folder, design = machines
    mutants = [mutant for mutant in list_mutants(design, folder, seed=1, count=6) if mutant.file == file]
    inside = [mutant for mutant in mutants if mutant.module in design.machines[preset].inside]
    verdicts = list(tell_apart(design, preset, inside, folder))
    assert [verdict.mutant for verdict in verdicts] == [mutant.name for mutant in inside]
    assert any(verdict.killed and verdict.by for verdict in verdicts)


MUTANTS = [Mutant("queue", number, f"-mode inv -module queue -cell cell{number} -port Y") for number in range(1, 5)]


def test_a_campaign_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Of four mutants, one is found alone, one by runs, one never, and one has not been looked at."""
    given = Results(tmp_path / "results")
    for mutant, ways in zip(MUTANTS, (["cycle 3"], ["", "cycles"], ["", "", ""]), strict=False):
        for stage, how in zip(Stage, ways, strict=False):
            given.add(Verdict(mutant.name, mutant.options, stage, "test", how))
    with (tmp_path / "results").open("a") as file:
        file.write('{"mutant": "queue:4", "opt')
    results = Results(tmp_path / "results")
    assert [results.due(MUTANTS, stage) for stage in Stage] == 3 * [MUTANTS[3:]]
    assert results.left(MUTANTS) == [MUTANTS[2]]
    # Whatever its number.
    assert results.of(Mutant("queue", 9, MUTANTS[0].options)) == given.of(MUTANTS[0])
    survivor = Mutant("queue", 1, "-mode const0")
    results.add(Verdict(survivor.name, survivor.options, Stage.RUNS))
    assert [results.due([survivor], stage) for stage in Stage] == [[], [], [survivor]]
    lines = summary(MUTANTS, results).splitlines()
    assert lines[1].split() == ["`queue`", "3", "1", "1", "0", "1", "66.7", "%"]
    assert lines[-1] == "queue:3 queue cell3.Y[] inv (): not explained"


@pytest.mark.long
def test_mutants_of_sources_are_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mutmut")
    assert try_sources(["host/output/text.py"], [], tmp_path) in (0, 1)
    assert "cyscc.host.output.text.x" in capfd.readouterr().out
