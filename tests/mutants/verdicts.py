"""Verdicts on mutants, in a file to which each is appended, and a table of them."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutants.faults import Mutant
from tests.tables import plain_table

_EXPLAINED = Path(__file__).with_name("explained.toml")


class Stage(StrEnum):
    """Stages that examine a mutant, in their order."""

    ALONE = "alone"
    SHORT_RUNS = "short runs"
    LONG_RUNS = "long runs"
    PROOFS = "proofs"


class Fate(StrEnum):
    """Outcome for a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"


@dataclass(frozen=True)
class Verdict:
    """Verdict on a mutant, and its reason.

    Parameters
    ----------
    mutant : str
        Its name.
    options : str
        What it is, see `Mutant`.
    stage : str
        The `Stage` that looked at it.
    fate : Fate
        What became of it there.
    by : str
        The test that found it.
    how : str
        In what way.
    """

    mutant: str
    options: str
    stage: str
    fate: Fate
    by: str = ""
    how: str = ""


class Results:
    """Verdicts in a file, a line each, so that a campaign can be stopped and continued.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._explained = {each["mutant"]: each["why"] for each in tomllib.loads(_EXPLAINED.read_text())["survivor"]}
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                # The last line may have been cut off.
                if line.endswith("}"):
                    self._keep(Verdict(**json.loads(line)))

    def add(self, verdict: Verdict) -> None:
        """Add a verdict."""
        self._keep(verdict)
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(verdict)) + "\n")

    def known(self, mutant: Mutant, stage: str) -> Verdict | None:
        """Return the verdict of a stage on a mutant, if it has been given."""
        return self.verdicts.get((mutant.options, stage))

    def alive(self, mutants: Sequence[Mutant], *, before: Stage | None = None) -> list[Mutant]:
        """Return those mutants on which no stage, or none before a stage, has given another verdict than survival."""
        stages = list(Stage)[: None if before is None else list(Stage).index(before)]
        verdicts = {mutant: [self.known(mutant, stage) for stage in stages] for mutant in mutants}
        return [
            mutant
            for mutant, own in verdicts.items()
            if all(verdict is None or verdict.fate == Fate.SURVIVED for verdict in own)
        ]

    def judged(self, mutant: Mutant) -> bool:
        """Return whether any stage has examined a mutant."""
        return any(self.known(mutant, stage) for stage in Stage)

    def left(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        """Return the mutants that survived all stages that have examined them so far."""
        return [mutant for mutant in self.alive(mutants) if self.judged(mutant)]

    def explanation(self, mutant: Mutant) -> str | None:
        """Return the reason why a mutant may survive, or None if none is stated."""
        return self._explained.get(mutant.options)

    def _keep(self, verdict: Verdict) -> None:
        self.verdicts[verdict.options, verdict.stage] = verdict


_HEAD = (
    "file of `hw`",
    "mutants",
    "killed alone",
    "by short runs",
    "long runs",
    "proofs",
    "left",
    "killed",
)


def _rows(mutants: Sequence[Mutant], results: Results) -> list[tuple[str, ...]]:
    """Return a row for each file with mutants, and one for all."""
    rows = []
    files: list[str | None] = [*sorted({mutant.file for mutant in mutants}), None]
    for file in files:
        own = [mutant for mutant in mutants if file in (mutant.file, None)]
        judged = [mutant for mutant in own if results.judged(mutant)]
        verdicts = [results.known(mutant, stage) for mutant in judged for stage in Stage]
        killed = [
            sum(each is not None and (each.stage, each.fate) == (stage, Fate.KILLED) for each in verdicts)
            for stage in Stage
        ]
        left = len(results.left(judged))
        share = f"{100 * sum(killed) / len(judged):.1f} %" if judged else "–"
        rows.append((f"`{file}`" if file else "all", *map(str, (len(judged), *killed, left)), share))
    return rows


def summary(mutants: Sequence[Mutant], results: Results) -> str:
    """Return the table, and all mutants that are left, with why if that is known."""
    lines = [plain_table(_rows(mutants, results), head=_HEAD)]
    for mutant in results.left(mutants):
        lines.append(f"{mutant.name} {mutant.place}: {results.explanation(mutant) or 'not explained'}")
    return "\n".join(lines)
