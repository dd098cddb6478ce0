"""Results of a campaign: a table."""

from collections.abc import Sequence

from tests.mutants.faults import Mutant
from tests.mutants.verdicts import Fate, Results, Stage
from tests.tables import plain_table

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
