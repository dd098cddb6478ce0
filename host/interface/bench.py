"""`bench`: simulation speed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cyscc.host.answer.answer import Answer
from cyscc.host.interface import notes
from cyscc.host.interface.experiments import experiment
from cyscc.host.specification.ask import SpecError, question

if TYPE_CHECKING:
    from cyscc.host.experiments.plan.plan import Plan


def _rows(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


@question()
def bench(
    *,
    quick: bool = False,
    rows: Sequence[str] | str = (),
    repetitions: int | None = None,
    compare: str | None = None,
    output: notes.File = "build",
    progress: notes.Wanted = False,
) -> Answer:
    """Measure how fast the machine is simulated.

    It is simulated by the compiled executor and by other means; or two revisions are compared.

    Raises
    ------
    SpecError
        There is no such row.
    InputError
        There is no such revision, or a file cannot be written.
    SimulationError
        A measurement failed.

    Notes
    -----
    rows: compiled-2, compiled-1, next-2, next-1, verilator, amaranth;
    with --compare: random-1, random-2, rmat-1, rmat-2, fast-1, fast-2, wiki-Vote, soc-Epinions1, record, record-2,
    build, avx2, pair

    Examples
    --------
    cyscc bench --quick
    cyscc bench --rows compiled-1,verilator --repetitions 3
    cyscc bench --compare HEAD~1 --rows random-1,record
    """
    from cyscc.host.experiments.benchmark import reports, revisions
    from cyscc.host.experiments.benchmark.search import PRESETS, ROOT
    from cyscc.sim.executors.comparison.contenders import CONTENDERS

    table = list(CONTENDERS if compare is None else revisions.COMPARISONS)
    wanted = _rows(rows) if isinstance(rows, str) else tuple(rows)
    for place, row in enumerate(wanted):
        if row not in table:
            other = "a row of the other table" if row in {*CONTENDERS, *revisions.COMPARISONS} else "no row"
            raise SpecError("rows", f"{row!r} is {other}: there are {', '.join(table)}")
        if row in wanted[:place]:
            raise SpecError("rows", f"{row!r} is given twice")
    chosen = [name for name in table if name in wanted or not wanted]
    preset = PRESETS["quick" if quick else "full"]

    def contenders(measurements: "Plan") -> Answer:
        return reports.benchmark_answer(reports.run_benchmark(measurements, preset, chosen, repetitions=repetitions))

    def comparisons(measurements: "Plan") -> Answer:
        return revisions.comparison_answer(
            revisions.compare_revisions(
                measurements, ROOT, str(compare), preset=preset, comparisons=chosen, turns=repetitions
            )
        )

    name, make = ("bench", contenders) if compare is None else ("bench-compare", comparisons)
    return experiment(name, make, output=output, jobs=1, verify=False, progress=progress)
