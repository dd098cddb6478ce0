"""Makes the mutants of the hardware, and tells what finds each.

Usage: ``python -m tests.mutants [--seed N] [--count N] [--build FOLDER] [FILE ...]``
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from host.command_line.progress import Progress
from hw.config import PRESETS
from tests.mutants.campaign import Fate, Results, Verdict, sound, tell_apart
from tests.mutants.design import machine_design
from tests.mutants.equivalence import equivalent
from tests.mutants.faults import list_mutants, prepare
from tests.mutants.machine import build

CONFIG = PRESETS["test"]

_FILES = 9
"""Files whose mutants are in one library: more make it slow, fewer take longer to build."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign, or go on with one, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Find out what finds small faults.")
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files of hw such as bfs/visitor; all if none is named"
    )
    parser.add_argument("--seed", type=int, default=1, help="which mutants are picked (1)")
    parser.add_argument("--count", type=int, default=200, help="mutants of a file (200)")
    parser.add_argument("--build", type=Path, default=Path("build/mutants"), help="folder of results (build/mutants)")
    options = parser.parse_args(arguments)
    folder = options.build.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    design = machine_design(CONFIG)
    known = sorted(set(design.files.values()))
    for file in options.files:
        if file not in known:
            parser.error(f"there is no {file!r}: there are {', '.join(known)}")
    prepare(design, folder)
    mutants = list_mutants(design, folder, seed=options.seed, count=options.count)
    wanted = [mutant for mutant in mutants if not options.files or mutant.file in options.files]
    results = Results(folder / f"results-{options.seed}.jsonl")
    left = [mutant for mutant in wanted if results.known(mutant, "runs") is None]
    done = 0
    with Progress(quiet=False).step("running mutants") as step:
        for first in range(0, len(known), _FILES):
            own = [mutant for mutant in mutants if mutant.file in known[first : first + _FILES]]
            due = [mutant for mutant in left if mutant in own]
            if not due:
                continue
            library = build(design, CONFIG, own, folder)
            sound(library, CONFIG)
            for verdict in tell_apart(library, CONFIG, own, due):
                results.add(verdict)
                done += 1
                step(done, len(left), verdict.mutant)
    survivors = [mutant for mutant in wanted if results.known(mutant, "runs").fate == Fate.SURVIVED]
    left = [mutant for mutant in survivors if results.known(mutant, "equivalence") is None]
    same = equivalent(folder, left)
    for mutant in left:
        fate = Fate.EQUIVALENT if mutant.name in same else Fate.SURVIVED
        results.add(Verdict(mutant.name, mutant.options, "equivalence", fate))
    for file in known:
        own = [mutant for mutant in wanted if mutant.file == file]
        alive = [mutant for mutant in own if mutant in survivors]
        rest = [mutant for mutant in alive if results.known(mutant, "equivalence").fate == Fate.SURVIVED]
        print(
            f"{file:28} {len(own):4} mutants, {len(own) - len(alive):4} killed, {len(alive) - len(rest):4} equivalent"
        )
        for mutant in rest:
            print("    ", mutant.number, mutant.place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
