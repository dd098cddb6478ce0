"""The campaign: its parts alternate in fixed shares of the time, and continue where they stopped."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fuzz.logs import Batch, Failure, Log, batches_in, failures_of
from tests.fuzz.parts import Finding, Part
from tests.fuzz.shrinking import keep, shrunk
from tests.fuzz.workers import Worker

MOST_FAILURES = 20
"""Failures after which a campaign ends before its time."""

_TURN = 2.0
"""Approximate seconds of a part's turn, after which its cases are logged."""

_SHRINKING = 120.0
"""Seconds that it may take to make a failure small."""


class Campaign:
    """The campaign of a seed.

    Parameters
    ----------
    parts : sequence of Part
        Its parts.
    folder : Path
        Of the log, and of what fails.
    seed : int
        All that its cases depend on, besides their numbers.
    on_case : callable
        Called after each case with the seconds since the campaign began, and what is done.
    on_failure : callable
        Called with each failure, and the folder where a small case of it is.
    shrinking : float
        Seconds that it may take to make a failure small.
    """

    def __init__(
        self,
        parts: Sequence[Part[Any]],
        folder: Path,
        seed: int,
        *,
        on_case: Callable[[float, str], None] = lambda seconds, what: None,
        on_failure: Callable[[Failure, Path], None] = lambda failure, folder: None,
        shrinking: float = _SHRINKING,
    ) -> None:
        self._parts = {part.name: part for part in parts}
        self._folder = folder
        self._seed = seed
        self._on_case = on_case
        self._on_failure = on_failure
        self._shrinking = shrinking
        # Each of its own: what one part does to its process is nothing to the others.
        self._workers = {part.name: Worker(self._parts) for part in parts}
        self._next = dict.fromkeys(self._parts, 0)
        self._spent = dict.fromkeys(self._parts, 0.0)
        self._cases = 0
        self._began = time.monotonic()
        batches = list(batches_in(folder, seed))
        for batch in batches:
            if batch.part in self._parts and not batch.mended:
                self._next[batch.part] = max(self._next[batch.part], batch.first + batch.count)
                self._spent[batch.part] += batch.seconds
        self._known = failures_of(batches)
        self.failures: list[Failure] = []

    def run(self, seconds: float, *, most: Mapping[str, int] | None = None) -> None:
        """Continue for a number of seconds, or until each part has run its maximum number of cases.

        Those that failed before come first: failures that were mended are none any more.
        """
        self._began = time.monotonic()
        with Log(self._folder, self._seed) as log:
            try:
                for failure in self._known:
                    self._look_again(log, failure)
                while time.monotonic() - self._began < seconds and len(self.failures) < MOST_FAILURES:
                    due = [name for name in self._parts if most is None or self._next[name] < most[name]]
                    if not due:
                        return
                    name = min(due, key=lambda name: self._spent[name] / self._parts[name].share)
                    end = min(_TURN, seconds - (time.monotonic() - self._began))
                    self._take_turn(log, self._parts[name], end, None if most is None else most[name])
            finally:
                for worker in self._workers.values():
                    worker.close()

    def _look_again(self, log: Log, failure: Failure) -> None:
        part = self._parts.get(failure.part)
        if part is None:
            return
        finding = self._workers[part.name].examine(part, part.draw(self._seed, failure.index))
        if finding.good:
            log.add(Batch(part=part.name, first=failure.index, failures=[failure], mended=True))
        else:
            self.failures.append(failure)

    def _take_turn(self, log: Log, part: Part[Any], seconds: float, most: int | None) -> None:
        begin = time.monotonic()
        batch = Batch(part=part.name, first=self._next[part.name])
        try:
            while time.monotonic() - begin < seconds and (most is None or self._next[part.name] < most):
                self._take(part, batch)
                if len(self.failures) >= MOST_FAILURES:
                    break
        finally:
            # Also when this is interrupted: the case that was being looked at comes again.
            batch.seconds = time.monotonic() - begin
            self._spent[part.name] += batch.seconds
            if batch.count:
                log.add(batch)

    def _take(self, part: Part[Any], batch: Batch) -> None:
        index = self._next[part.name]
        case = part.draw(self._seed, index)
        finding = self._workers[part.name].examine(part, case)
        failure = None
        if not finding.good:
            failure = Failure(seed=self._seed, part=part.name, index=index, kind=finding.kind, what=finding.what[:500])
            batch.failures.append(failure)
        # What follows may be interrupted, and counts already.
        batch.count += 1
        batch.kinds[finding.kind] = batch.kinds.get(finding.kind, 0) + 1
        for name, count in finding.counts.items():
            batch.counts[name] = batch.counts.get(name, 0) + count
        self._next[part.name] += 1
        self._cases += 1
        if failure is not None:
            self.failures.append(failure)
            self._make_small(part, case, finding, failure)
        self._on_case(time.monotonic() - self._began, f"{part.name} {index + 1:,}, {self._cases:,} cases")

    def _make_small(self, part: Part[Any], case: object, finding: Finding, failure: Failure) -> None:
        folder = self._folder / f"seed-{self._seed}-{part.name}-{failure.index}"
        keep(part, case, finding, folder, again=failure.again)
        patience = min(part.patience, self._shrinking / 4)

        def examine(candidate: object) -> Finding:
            return self._workers[part.name].examine(part, candidate, patience=patience)

        small, found = shrunk(case, finding, part.simpler, examine, seconds=self._shrinking)
        keep(part, small, replace(found, what=found.what), folder, again=failure.again)
        self._on_failure(failure, folder)
