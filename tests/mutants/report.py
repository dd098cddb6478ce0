"""Results of a campaign: a table, and the page of the documentation."""

from collections.abc import Sequence
from pathlib import Path

from tests.mutants.faults import Mutant
from tests.mutants.verdicts import Fate, Results, Stage
from tests.tables import markdown_table, plain_table

_TEXT = Path(__file__).with_name("page.md")
_HEAD = (
    "file of `hw`",
    "mutants",
    "proven the same",
    "killed alone",
    "by short runs",
    "long runs",
    "proofs",
    "left",
    "killed of rest",
)


def _rows(mutants: Sequence[Mutant], results: Results) -> list[tuple[str, ...]]:
    """Return a row for each file with mutants, and one for all."""
    rows = []
    files: list[str | None] = [*sorted({mutant.file for mutant in mutants}), None]
    for file in files:
        own = [mutant for mutant in mutants if file in (mutant.file, None)]
        judged = [mutant for mutant in own if results.judged(mutant)]
        counts = {
            (stage, fate): sum(
                verdict is not None and verdict.fate == fate
                for verdict in (results.known(mutant, stage) for mutant in judged)
            )
            for stage in Stage
            for fate in Fate
        }
        killed = [counts[stage, Fate.KILLED] for stage in Stage if stage != Stage.EQUIVALENCE]
        same = counts[Stage.EQUIVALENCE, Fate.EQUIVALENT]
        left = len(results.left(judged))
        share = f"{100 * sum(killed) / (len(judged) - same):.1f} %" if len(judged) > same else "–"
        rows.append((f"`{file}`" if file else "all", *map(str, (len(judged), same, *killed, left)), share))
    return rows


def summary(mutants: Sequence[Mutant], results: Results) -> str:
    """Return the table, and all mutants that are left, with why if that is known."""
    lines = [plain_table(_rows(mutants, results), head=_HEAD)]
    for mutant in results.left(mutants):
        lines.append(f"{mutant.name} {mutant.place}: {results.explanation(mutant) or 'not explained'}")
    return "\n".join(lines)


def page(mutants: Sequence[Mutant], results: Results, *, seed: int) -> str:
    """Return the page of the documentation.

    Parameters
    ----------
    mutants : sequence of Mutant
        What was to be run.
    results : Results
        What has been found.
    seed : int
        What the mutants were picked by.
    """
    left = [
        f"- `{mutant.name}`: `{mutant.place}`. {results.explanation(mutant) or 'Not explained.'}"
        for mutant in results.left(mutants)
    ]
    count = max(mutant.number for mutant in mutants)
    table = markdown_table(_HEAD, _rows(mutants, results))
    return _TEXT.read_text().format(seed=seed, count=count, table=table, left="\n".join(left) or "None.")
