"""Fuzzing campaigns: random runs, files, flipped bits, faults of the environment, odd command lines.

Usage: ``python -m tests.fuzz [--minutes N] [--seed N] [--log FOLDER] [--only PART:INDEX | --case FILE | --summary]``

It can be stopped at any time, and goes on where it was when it is given its seed.
"""

import argparse
import random
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyscc.host.output.progress import Progress
from tests.fuzz.campaign import Campaign
from tests.fuzz.environments import ENVIRONMENTS
from tests.fuzz.flips import FLIPS
from tests.fuzz.inputs import INPUTS
from tests.fuzz.logs import Failure, batches_in, seeds_in
from tests.fuzz.oddities import ODDITIES
from tests.fuzz.parts import Part
from tests.fuzz.runs import RUNS
from tests.fuzz.shrinking import kept_case
from tests.fuzz.summaries import summary
from tests.fuzz.workers import examined

PARTS: dict[str, Part[Any]] = {part.name: part for part in (RUNS, INPUTS, FLIPS, ENVIRONMENTS, ODDITIES)}

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or continue a campaign; return the exit status: 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Look for what is wrong.")
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--seed", type=int, help="what the cases depend on (a new one)")
    parser.add_argument("--log", type=Path, default=Path("build/fuzz"), metavar="FOLDER", help="log (build/fuzz)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given again")
    parser.add_argument("--only", metavar="PART:INDEX", help="only this case of the seed")
    parser.add_argument("--case", type=Path, metavar="FILE", help="only the case in this file")
    parser.add_argument("--summary", action="store_true", help="run nothing, but write what all campaigns found")
    options = parser.parse_args(arguments)
    if options.summary:
        batches = [batch for seed in seeds_in(options.log) for batch in batches_in(options.log, seed)]
        print(summary(PARTS.values(), batches, markdown=True), end="")
        return 0
    if options.case is not None:
        return _look_at(*kept_case(options.case, PARTS))
    if options.only is not None:
        name, _, index = options.only.partition(":")
        if options.seed is None or name not in PARTS or not index.isdecimal():
            parser.error(f"--only needs --seed, and PART:INDEX such as runs:12, not {options.only!r}")
        return _look_at(PARTS[name], PARTS[name].draw(options.seed, int(index)))
    if options.seed is not None and options.seed < 0:
        parser.error(f"--seed must be at least 0, not {options.seed}")
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    parts = [part for part in PARTS.values() if options.part is None or part.name in options.part]
    return _run(parts, options.log, seed, minutes=options.minutes)


def _look_at(part: Part[Any], case: object) -> int:
    """Look at a case in this very process; return the exit status."""
    finding = examined(part, case)
    counts = ", ".join(f"{count} {name}" for name, count in finding.counts.items())
    print(": ".join(filter(None, (finding.kind, finding.what, counts))))
    return int(not finding.good)


def _run(parts: Sequence[Part[Any]], folder: Path, seed: int, *, minutes: float) -> int:
    """Go on with a campaign; return the exit status."""
    print(f"seed {seed}, for {minutes:g} minutes; go on with it: python -m tests.fuzz --seed {seed}", flush=True)
    seconds = 60 * minutes
    status = 0
    with Progress(quiet=False).step("looking for what is wrong") as step:

        def on_case(elapsed: float, what: str) -> None:
            step(int(elapsed), int(seconds), what)

        def on_failure(failure: Failure, place: Path) -> None:
            lines = (
                f"{failure.kind}: {failure.what}\n  {failure.again}\n  python -m tests.fuzz --case {place}/case.json"
            )
            print(lines, flush=True)

        campaign = Campaign(parts, folder, seed, on_case=on_case, on_failure=on_failure)
        try:
            campaign.run(seconds)
        except KeyboardInterrupt:
            status = _INTERRUPTED
        except BlockingIOError as error:
            print(error, file=sys.stderr)
            return 2
    batches = list(batches_in(folder, seed))
    print(summary(parts, batches), end="")
    for failure in campaign.failures:
        print(f"{failure.kind}: {failure.again}")
    return status or int(bool(campaign.failures))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
