"""Runs all proofs, shows what became of each, and fails if one did not hold or none of its mutants failed.

Usage: ``python -m tests.formal [--jobs N] [--json FILE] [--keep] [NAME ...]``
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyscc.host.output.progress import Progress
from tests.formal.proof import (
    PROVEN,
    Proof,
    any_place,
    check,
    digest,
    keep,
    kept_mutants,
    mutants_of,
)
from tests.formal.solve import PROVE
from tests.formal.table import PROOFS, shown_to_fail
from tests.tables import plain_table

_HEAD = ("proof, and mutants of it", "how", "result", "depth", "seconds")


@dataclass(frozen=True)
class _Job:
    """A proof, or the search for its mutants.

    Parameters
    ----------
    proof : Proof
        The proof.
    mutants : dict of str to str, optional
        Gets the mutants by the property that each violates.
    draws : bool
        Mutants are drawn for properties of which none is kept.
    """

    proof: Proof
    mutants: dict[str, str] | None = None
    draws: bool = False

    def run(self) -> dict[str, Any]:
        """Return the line of the report."""
        began = time.monotonic()
        if self.mutants is not None:
            return self._mutated(began, self.mutants)
        result = check(self.proof)
        failed = f": {', '.join(result.failed)}" if result.failed else ""
        step = f" in cycle {result.step}" if result.step is not None else ""
        right = result.outcome == self.proof.expected
        return self._line(began, result=f"{result.outcome}{failed}{step}", right=right)

    def _mutated(self, began: float, found: dict[str, str]) -> dict[str, Any]:
        """Return the line about mutants, and add these to those found."""
        kept, shown = kept_mutants(self.proof), shown_to_fail(self.proof)
        names = self.proof.harness().properties
        wanted = [name for name in names if name in kept or any_place(name) not in shown]
        # Every proof must be able to fail, not only each property in one of those of like hardware.
        found.update(mutants_of(self.proof, (wanted or names) if self.draws else ()))
        missing = {any_place(name) for name in wanted} - {any_place(name) for name in found}
        if missing:
            result = f"not violated: {', '.join(sorted(missing))}"
        else:
            result = f"counterexample: {', '.join(found)}" if found else "none violates anything"
        return self._line(began, result=result, right=not missing and bool(found))

    def _line(self, began: float, *, result: str, right: bool) -> dict[str, Any]:
        proves = self.mutants is None
        return {
            "proof": self.proof.name,
            "mutants": not proves,
            "mode": ("induction" if self.proof.mode == PROVE else "bounded") if proves else "search",
            "depth": self.proof.depth if proves else self.proof.reach,
            "seconds": round(time.monotonic() - began, 2),
            "result": result,
            "as_expected": right,
        }


def _cells(line: dict[str, Any]) -> tuple[str, ...]:
    """Return a line of the report as a row of the table."""
    name = "  mutants" if line["mutants"] else line["proof"]
    result = line["result"] if line["as_expected"] else f"WRONG, {line['result']}"
    return name, line["mode"], result, str(line["depth"]), f"{line['seconds']:.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the proofs and return the exit status: 1 if one did not end as it must."""
    parser = argparse.ArgumentParser(prog="python -m tests.formal", description="Prove the hardware's properties.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="proofs to run; all if none is named")
    parser.add_argument("--jobs", type=int, default=1, help="proofs that run at once (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table to this file too")
    parser.add_argument("--keep", action="store_true", help=f"write what holds to {PROVEN.name}, for `make test`")
    options = parser.parse_args(arguments)
    known = [proof.name for proof in PROOFS]
    for name in options.names:
        if name not in known:
            parser.error(f"there is no proof {name!r}: there are {', '.join(known)}")
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, not {options.jobs}")
    chosen = [proof for proof in PROOFS if not options.names or proof.name in options.names]
    mutants: dict[str, dict[str, str]] = {proof.name: {} for proof in chosen}
    jobs = [
        job
        for proof in chosen
        for job in (
            _Job(proof),
            _Job(proof, mutants=mutants[proof.name], draws=options.keep),
        )
    ]

    began = time.monotonic()
    report = []
    with ThreadPoolExecutor(options.jobs) as pool, Progress(quiet=False).step("proving") as step:
        for line in pool.map(_Job.run, jobs):
            report.append(line)
            step(len(report), len(jobs), line["proof"])
    print(plain_table([_cells(line) for line in report], head=_HEAD, words=3))
    seconds = time.monotonic() - began
    wrong = sum(not line["as_expected"] for line in report)
    failing = sum(map(len, mutants.values()))
    print(f"{len(chosen)} proofs, {failing} mutants, {seconds:.0f} s, {wrong} wrong")
    if options.json:
        options.json.write_text(json.dumps({"seconds": round(seconds, 1), "runs": report}, indent=2) + "\n")
    if options.keep:
        holding = {line["proof"] for line in report if not line["mutants"] and line["as_expected"]}
        keep({proof.name: (digest(proof), mutants[proof.name]) for proof in chosen if proof.name in holding})
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
