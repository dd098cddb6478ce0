"""Makes mutants, and finds out what finds each: of the hardware, or of the Python sources of host and simulator.

Usage: ``python -m tests.mutants [--seed N] [--count N] [--build FOLDER] [FILE ...]``, for sources
``python -m tests.mutants [--build FOLDER] [--tests FOLDER] host/FILE-OR-FOLDER ...``

It can be stopped at any time, and goes on where it was.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from cyscc.host.output.progress import Progress
from tests.formal.table import PROOFS
from tests.mutants.alone import look_alone
from tests.mutants.campaign import tell_apart
from tests.mutants.design import Design, machine_design
from tests.mutants.faults import Mutant, list_mutants, prepare
from tests.mutants.proofs import MutantProof
from tests.mutants.sources import try_sources
from tests.mutants.verdicts import Results, Stage, Verdict, summary

PRESETS = ("test", "fast-test")
"""The machines whose mutants are made: without the options that the published machine does not have, and with them."""

_ADAPTERS = ("axi-", "convey-")
"""How proofs are called that are of no part of the machine."""

_SOURCES = ("host/", "sim/")

_BATCH = 1000
"""Mutants that are in one library of the whole machine: more make it slow, fewer take longer to build."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or continue a campaign; return the exit status: 1 if a mutant is neither killed nor explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Find out what finds small faults.")
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="files of hw such as bfs/visitor; all if none is named; or files and folders such as host/graph",
    )
    parser.add_argument("--seed", type=int, default=1, help="which mutants are picked (1)")
    parser.add_argument("--count", type=int, default=200, help="mutants of a file (200)")
    parser.add_argument("--build", type=Path, default=Path("build/mutants"), help="folder of results (build/mutants)")
    parser.add_argument("--tests", action="append", metavar="FOLDER", help="tests of sources (those that mirror them)")
    options = parser.parse_args(arguments)
    folder = options.build.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.count < 1:
        parser.error(f"--count must be at least 1, not {options.count}")
    if any(file.startswith(_SOURCES) for file in options.files):
        return try_sources(options.files, options.tests or (), folder)
    design = machine_design(PRESETS)
    known = sorted(set(design.files.values()))
    for file in options.files:
        if file not in known:
            parser.error(f"there is no {file!r}: there are {', '.join(known)}")
    prepare(design, folder)
    mutants = list_mutants(design, folder, seed=options.seed, count=options.count)
    wanted = [mutant for mutant in mutants if not options.files or mutant.file in options.files]
    results = Results(folder / f"verdicts-{options.seed}.jsonl")
    with Progress(quiet=False).step("running mutants") as step:
        _look_at(wanted, design, folder, results, step)
    print(summary(wanted, results))
    return int(any(results.explanation(mutant) is None for mutant in results.left(wanted)))


def _look_at(
    mutants: Sequence[Mutant], design: Design, folder: Path, results: Results, step: Callable[[int, int, str], None]
) -> None:
    """Give all verdicts on some mutants that have not been given."""
    judges = {
        Stage.ALONE: lambda due: look_alone(design, due, folder),
        Stage.RUNS: lambda due: _runs(due, design, folder),
        Stage.PROOFS: lambda due: _prove(due, folder),
    }
    for stage, judge in judges.items():
        due = results.due(mutants, stage)
        for done, verdict in enumerate(judge(due), start=1):
            results.add(verdict)
            step(done, len(due), f"{stage}: {verdict.mutant}")


def _runs(due: Sequence[Mutant], design: Design, folder: Path) -> Iterator[Verdict]:
    """Make the runs of each machine that a mutant is in, up to the first that kills it."""
    left = list(due)
    for preset, machine in design.machines.items():
        # What the machine does tells of nothing that is not in it.
        inside = [mutant for mutant in left if mutant.module in machine.inside]
        for first in range(0, len(inside), _BATCH):
            batch = inside[first : first + _BATCH]
            for mutant, verdict in zip(batch, tell_apart(design, preset, batch, folder), strict=True):
                if verdict.killed:
                    yield verdict
                    left.remove(mutant)
    yield from (Verdict(mutant.name, mutant.options, Stage.RUNS) for mutant in left)


def _prove(due: Sequence[Mutant], folder: Path) -> Iterator[Verdict]:
    for mutant in due:
        broken = next((proof.name for proof in _proofs(folder) if proof.covers(mutant) and proof.breaks(mutant)), "")
        yield Verdict(mutant.name, mutant.options, Stage.PROOFS, broken, "not proven" if broken else "")


@cache
def _proofs(folder: Path) -> list[MutantProof]:
    """Return the proofs of components of the machine."""
    ours = [proof for proof in PROOFS if not proof.name.startswith(_ADAPTERS)]
    return [MutantProof(proof, folder, folder / "proofs" / proof.name) for proof in ours]


if __name__ == "__main__":
    sys.exit(main())
