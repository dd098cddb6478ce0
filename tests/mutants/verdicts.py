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
    RUNS = "runs"
    PROOFS = "proofs"


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
    by : str
        The test that found it.
    how : str
        In what way; nothing if it survived.
    """

    mutant: str
    options: str
    stage: str
    by: str = ""
    how: str = ""

    @property
    def killed(self) -> bool:
        """Whether the stage found it."""
        return bool(self.how)


class Results:
    """The last verdict on each mutant, in a file of a line for each, so that a campaign can be stopped and continued.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._explained = {each["mutant"]: each["why"] for each in tomllib.loads(_EXPLAINED.read_text())["survivor"]}
        self._verdicts: dict[str, Verdict] = {}
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

    def of(self, mutant: Mutant) -> Verdict | None:
        """Return the last verdict on a mutant, if there is one."""
        return self._verdicts.get(mutant.options)

    def due(self, mutants: Sequence[Mutant], stage: Stage) -> list[Mutant]:
        """Return those mutants that have survived all stages before, and that this one has not looked at."""
        before = [*Stage][: [*Stage].index(stage)]
        verdicts = ((mutant, self.of(mutant)) for mutant in mutants)
        return [mutant for mutant, last in verdicts if last is None or (not last.killed and last.stage in before)]

    def left(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        """Return the mutants that survived all stages that have examined them so far."""
        verdicts = ((mutant, self.of(mutant)) for mutant in mutants)
        return [mutant for mutant, last in verdicts if last is not None and not last.killed]

    def explanation(self, mutant: Mutant) -> str | None:
        """Return the reason why a mutant may survive, or None if none is stated."""
        return self._explained.get(mutant.options)

    def _keep(self, verdict: Verdict) -> None:
        self._verdicts[verdict.options] = verdict


_HEAD = ("file of `hw`", "mutants", "killed alone", "by runs", "proofs", "left", "killed")


def _rows(mutants: Sequence[Mutant], results: Results) -> list[tuple[str, ...]]:
    """Return a row for each file with mutants, and one for all."""
    rows = []
    files: list[str | None] = [*sorted({mutant.file for mutant in mutants}), None]
    for file in files:
        own = [mutant for mutant in mutants if file in (mutant.file, None)]
        verdicts = [verdict for verdict in map(results.of, own) if verdict is not None]
        killed = [sum(each.killed and each.stage == stage for each in verdicts) for stage in Stage]
        share = f"{100 * sum(killed) / len(verdicts):.1f} %" if verdicts else "–"
        counts = (len(verdicts), *killed, len(verdicts) - sum(killed))
        rows.append((f"`{file}`" if file else "all", *map(str, counts), share))
    return rows


def summary(mutants: Sequence[Mutant], results: Results) -> str:
    """Return the table, and all mutants that are left, with why if that is known."""
    lines = [plain_table(_rows(mutants, results), head=_HEAD)]
    for mutant in results.left(mutants):
        lines.append(f"{mutant.name} {mutant.place}: {results.explanation(mutant) or 'not explained'}")
    return "\n".join(lines)
