"""A study that is made: its points, and their table in a file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cyscc.host.experiments.sweep.batch import Batch, Swept
from cyscc.host.experiments.sweep.definition import SweepStudy
from cyscc.host.experiments.sweep.points import SweepFolder
from cyscc.host.experiments.sweep.rows import Row, rows_of, with_area, write_table
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
    swept : Swept
        Number of points, and failures.
    folder : SweepFolder
        Folder of the points.
    files : mapping of str to Path
        The table and the page.
    command : str
        The command that made it, if one did.
    """

    study: SweepStudy
    rows: list[Row]
    swept: Swept
    folder: SweepFolder
    files: Mapping[str, Path]
    command: str = ""

    @property
    def failure(self) -> str:
        """How many points failed, and why the first one did; empty if none failed."""
        points = [each.point for each in self.study.points]
        failed = [point for point in points if point.digest in self.swept.failures]
        if not failed:
            return ""
        of = f"{len(failed)} of {len(points)} points failed"
        return f"{of}: {failed[0].label}: {self.swept.failures[failed[0].digest]}"


def study_files(study: SweepStudy, folder: Path) -> dict[str, Path]:
    """Return the files of a study in a folder: its ``table`` and its ``page``."""
    return {"table": folder / f"{study.name}.parquet", "page": folder / f"{study.name}.html"}


def make_study(study: SweepStudy, batch: Batch) -> Outcome:
    """Make the missing points of a study, and write its table; its page is the answer's.

    Raises
    ------
    InputError
        A file cannot be written, or a point that exists is damaged.
    SimulationError
        No further points can be made. A failed point does not raise: see `Outcome.failure`.
    """
    if study.search is not None:
        batch = replace(batch, families=tuple(dict.fromkeys((*study.search.families, *batch.families))))
    files = study_files(study, batch.folder)
    with batch.opened() as folder:
        for path in files.values():
            check_output(str(path), "--output", plain=True)
        if study.search is not None:
            with batch.progress.step("searching") as step:
                study, rows, swept = search(study, folder, batch, step)
        else:
            with batch.progress.step("simulating") as step:
                swept = batch.sweep([each.point for each in study.points], folder, step)
            rows = with_area(study, rows_of(study, folder, swept), batch)
        write_table(rows, files["table"])
    return Outcome(study=study, rows=rows, swept=swept, folder=folder, files=files, command=batch.progress.command)
