"""How functions make many runs and measurements, which are kept in a folder."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import Answer
from cyscc.host.interface.notes import CORES, File
from cyscc.host.output.files import check_output, write_json, write_text
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.numbers import checked_number

if TYPE_CHECKING:
    from cyscc.host.experiments.plan.plan import Plan


def several(given: Any) -> list[Any]:
    """Return one thing, or several, as a list without repetitions."""
    return list(dict.fromkeys(given if isinstance(given, list | tuple) else [given]))


def _jobs(jobs: int | None, progress: Progress) -> int:
    """Return the number of processes: by default one for each core; one of a script, which several would import."""
    return (CORES if progress.command else 1) if jobs is None else checked_number("jobs", jobs, low=1)


def _kept(progress: Progress, folder: Path) -> str:
    """Return what an interrupt leaves of the work, whose finished results are kept in a folder."""
    step = progress.latest
    if step is None or step.total is None:
        return f"finished results are kept in {folder}; the same command goes on"
    kept = f"kept in {folder}" if step.done else "nothing is kept yet"
    return f"{progress.name}: {step.done:,} of {step.total:,} done, {kept}; the same command goes on"


def plan_of(
    folder: File,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    area: bool = False,
    family: Any = None,
    progress: Progress | bool = False,
) -> "Plan":
    """Return where and how runs are made; see `cyscc.host.interface.notes.Many`.

    Raises
    ------
    ValueError
        A value is out of range.
    SimulationError
        Machines are to be synthesised, and Yosys is missing.
    """
    from cyscc.host.experiments.fpga.area import checked_family
    from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
    from cyscc.host.experiments.plan.plan import Plan
    from cyscc.host.experiments.studies.paper import FAMILY

    progress = Progress.of(progress)
    progress.kept = partial(_kept, progress, Path(folder))
    if area:
        check_tool(YOSYS)
    return Plan(
        folder=Path(folder),
        jobs=_jobs(jobs, progress),
        scheduler=scheduler,
        families=tuple(map(checked_family, several(family or FAMILY))) if area else (),
        progress=progress,
    )


def check_files(files: Mapping[str, Path], progress: Progress) -> None:
    """Refuse files of a folder, by their names in messages, to which the command writes something else.

    Raises
    ------
    SpecError
        One line that names the file.
    """
    own = {os.path.realpath(path): name for name, path in files.items()}
    for path, option in progress.outputs.items():
        if os.path.realpath(path) in own:
            raise SpecError("", f"{option} and {own[os.path.realpath(path)]} are the same file: {path}")


def experiment(
    name: str,
    make: "Callable[[Plan], Answer]",
    *,
    output: File,
    jobs: int | None,
    verify: bool = True,
    again: bool = False,
    charts: bool = False,
    progress: Progress | bool,
) -> Answer:
    """Measure, write the answer as ``NAME.json``, ``NAME.md`` and ``NAME.svg``, and return it.

    Parameters
    ----------
    name : str
        Name of the files.
    make : callable
        Makes the answer from a `Plan`.
    output : str or path
        Folder of the files, and of measurements, which are found there again.
    jobs : int or None
        Number of processes.
    verify, again : bool
        Whether results are verified; whether all is measured anew.
    charts : bool
        Whether there is a chart.
    progress : Progress or bool
        Progress display.

    Raises
    ------
    InputError
        A file cannot be written.
    SimulationError
        A measurement failed.
    """
    from cyscc.host.experiments.plan.plan import RESULTS, Plan

    progress, folder = Progress.of(progress), Path(output)
    paths = [folder / f"{name}.{suffix}" for suffix in ("json", "md", *(["svg"] if charts else []))]
    check_files({f"that of {output}": path for path in paths}, progress)
    plan = Plan(folder=folder, jobs=_jobs(jobs, progress), verify=verify, again=again)
    with plan.opened():
        for path in paths:
            check_output(str(path), "--output", plain=True)
        if not again:
            progress.kept = partial(_kept, progress, folder / RESULTS)
        with progress.step("measuring") as step:
            plan.on_step = step
            answer = make(plan)
        write_json(str(paths[0]), answer.document())
        write_text(str(paths[1]), answer.markdown())
        for path in paths[2:]:
            answer.plot(path)
    said = (
        f"{plan.made + plan.found} measurements, {plan.found} of them taken over from {folder / RESULTS}\n"
        f"written: {', '.join(map(str, paths))}"
    )
    return replace(answer, said=[*answer.said, said])
