"""Fuzzing: random runs, files, flipped bits, faults of the environment, odd command lines.

Usage: ``python -m tests.fuzz [--minutes N] [--seed N] [--log FOLDER] [--part PART]``

It can be stopped at any time: cases that failed are kept, and come first when it is given its seed again.
"""

import argparse
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

from cyscc.host.output.progress import Progress
from tests.fuzz.environments import ENVIRONMENTS
from tests.fuzz.flips import FLIPS
from tests.fuzz.inputs import INPUTS
from tests.fuzz.oddities import ODDITIES
from tests.fuzz.runs import RUNS
from tests.fuzz.runs import draw as draw_run
from tests.fuzz.search import Part, Worker, search
from tests.fuzz.setups import new_machine

PARTS: dict[str, Part[Any]] = {part.name: part for part in (RUNS, INPUTS, FLIPS, ENVIRONMENTS, ODDITIES)}

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at cases that failed before, then at new ones; return the exit status: 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Look for what is wrong.")
    parser.add_argument("--minutes", type=float, default=10, help="how long (10); each part has a turn at least")
    parser.add_argument("--seed", type=int, help="what the cases depend on (a new one)")
    parser.add_argument("--log", type=Path, default=Path("build/fuzz"), metavar="FOLDER", help="log (build/fuzz)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given again")
    options = parser.parse_args(arguments)
    if options.seed is not None and options.seed < 0:
        parser.error(f"--seed must be at least 0, not {options.seed}")
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    print(f"seed {seed}, for {options.minutes:g} minutes; again: python -m tests.fuzz --seed {seed}", flush=True)
    runs = PARTS[RUNS.name]
    drawn = {**PARTS, RUNS.name: replace(runs, draw=partial(draw_run, new=new_machine(random.Random(seed))))}
    parts = [part for name, part in drawn.items() if options.part is None or name in options.part]
    return _run(parts, options.log / f"seed-{seed}", seed, seconds=60 * options.minutes)


def _turns(parts: Sequence[Part[Any]], failed: set[str], seconds: float) -> Iterator[tuple[int, Part[Any]]]:
    """Yield the parts that have no failure in turn, until the time is over; each has a first turn in any case."""
    end = time.monotonic() + seconds
    turn = 0
    while len(failed) < len(parts):
        for part in parts:
            if turn and time.monotonic() >= end:
                return
            if part.name not in failed:
                yield turn, part
        turn += 1


def _run(parts: Sequence[Part[Any]], folder: Path, seed: int, *, seconds: float) -> int:
    """Look at the cases that failed before, then at new ones; return the exit status."""
    kept = settings(database=DirectoryBasedExampleDatabase(folder), derandomize=False)
    counts = {part.name: Counter[str]() for part in parts}
    failed = set[str]()
    status = 0
    begin = time.monotonic()
    with Progress(quiet=False).step("looking for what is wrong") as step:
        try:
            for turn, part in _turns(parts, failed, seconds):
                step(int(time.monotonic() - begin), int(seconds), f"{part.name}, turn {turn}")
                try:
                    with Worker() as worker:
                        counts[part.name] += search(
                            part, part.turn, examine=worker.examine, seed=f"{seed}/{turn}", using=kept
                        )
                except* AssertionError as group:
                    failed.add(part.name)
                    _tell(part, group)
        except KeyboardInterrupt:
            status = _INTERRUPTED
    for name, found in counts.items():
        listed = ", ".join(f"{number:,} {kind}" for kind, number in found.most_common())
        print(f"{name}: {'failed, ' * (name in failed)}{listed or 'none'}")
    return status or int(bool(failed))


def _tell(part: Part[Any], group: BaseExceptionGroup) -> None:
    """Print how cases of a part failed, and the simplest of each kind."""
    for error in group.exceptions:
        notes = "\n".join(getattr(error, "__notes__", ()))
        print(f"{part.name}: {type(error).__name__}: {error}\n{notes}", flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main())
