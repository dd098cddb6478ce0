"""A study that is made: its points, and their table in a file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.definition import SweepStudy
from cyscc.host.experiments.sweep.rows import FAILED, Row, made_rows, write_table
from cyscc.host.experiments.sweep.search import search
from cyscc.host.output.files import check_output


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A study, with the results of its points.

    Parameters
    ----------
    study : SweepStudy
        The study; of one that searches, with the points that it chose.
    rows : list of Row
        A row for each point.
    plan : Plan
        How they were made.
    files : mapping of str to Path
        The table and the page.
    """

    study: SweepStudy
    rows: list[Row]
    plan: Plan
    files: Mapping[str, Path]

    @property
    def failure(self) -> str:
        """How many points failed, and why the first one did; empty if none failed."""
        failed = [
            f"{each.point.label}: {row['reason']}"
            for each, row in zip(self.study.points, self.rows, strict=False)
            if row["status"] == FAILED
        ]
        return f"{len(failed)} of {len(self.rows)} points failed: {failed[0]}" if failed else ""


def study_files(study: SweepStudy, folder: Path) -> dict[str, Path]:
    """Return the files of a study in a folder: its ``table`` and its ``page``."""
    return {"table": folder / f"{study.name}.parquet", "page": folder / f"{study.name}.html"}


def make_study(study: SweepStudy, plan: Plan) -> Outcome:
    """Make the missing points of a study, and write its table; its page is the answer's.

    Raises
    ------
    InputError
        A file cannot be written.
    SimulationError
        No further points can be made, or Yosys is missing. A failed point does not raise: see `Outcome.failure`.
    """
    if study.search is not None and study.search.families:
        plan = replace(plan, families=tuple(dict.fromkeys((*study.search.families, *plan.families))))
        check_tool(YOSYS)
    files = study_files(study, plan.folder)
    with plan.opened():
        for path in files.values():
            check_output(str(path), "--output", plain=True)
        if study.search is not None:
            with plan.progress.step("searching") as step:
                study, rows = search(study, plan, step)
        else:
            rows = made_rows(study, plan)
        write_table(rows, files["table"])
    return Outcome(study=study, rows=rows, plan=plan, files=files)
