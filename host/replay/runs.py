"""Runs with what follows them: the trace of their record, and the replay of the last cycles before a failure."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import check_apart, check_output
from cyscc.host.output.progress import Progress
from cyscc.host.record.document import DOCUMENT
from cyscc.host.record.parts import DETAIL_FOLDER
from cyscc.host.runs.execution import Session
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.runs.results import Result
from cyscc.host.specification.place import Place
from cyscc.host.specification.run import RunSpec, run_options
from cyscc.sim.errors import SimulationError
from cyscc.sim.notices import notice

if TYPE_CHECKING:
    from cyscc.host.runs.checkpoints.run import CheckpointedRun
    from cyscc.host.runs.recorder import RunRecorder


@contextmanager
def performed(
    spec: RunSpec, progress: Progress, *, graph: Graph | None = None, checkpointed: "CheckpointedRun | None" = None
) -> Iterator[Result]:
    """Execute a run, yield its result, and remove its checkpoint at the end of the block.

    A recorded run that fails leaves waveforms of its last cycles in the record's folder.

    Parameters
    ----------
    spec : RunSpec
        The run.
    progress : Progress
        Shows the progress.
    graph : Graph, optional
        The graph; by default read from the file in the specification.
    checkpointed : CheckpointedRun, optional
        The run with its checkpoints, if it may have any.

    Raises
    ------
    InputError
        A graph, a folder or a file cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """

    def on_failure(recorded: "RunRecorder", error: SimulationError) -> None:
        from cyscc.host.replay.replaying import show_failure

        checkpoint = None if checkpointed is None else checkpointed.latest()
        show_failure(recorded, error, _again(recorded.spec, progress, graph), checkpoint=checkpoint)

    for option in run_options(spec.algorithm).values():
        if option.flag in spec.outputs:
            check_output(spec.outputs[option.flag], option.flag, option.writes)
    check_apart({**spec.outputs, **spec.folders}, spec.folders)
    with ExitStack() as stack:
        temporary = None
        if spec.record is None and (spec.trace is not None or spec.roofline):
            temporary = Path(stack.enter_context(TemporaryDirectory(prefix="cyscc-record-")))
        session = Session(
            spec,
            progress,
            graph,
            make_checkpointer=None if checkpointed is None else checkpointed.writer,
            seconds=0.0 if checkpointed is None else checkpointed.seconds,
            record=temporary,
            on_failure=on_failure if temporary is None else None,
        )
        result = session.execute()
        if spec.record_detail is not None:
            try:
                _record_detail(spec, result, progress, graph)
            except InputError as error:
                # The run has its result.
                notice(f"{spec.record_detail} is not recorded in detail: {error}")
        if spec.trace is not None:
            from cyscc.host.analysis.trace import write_trace

            assert result.record is not None, "it was recorded"
            write_trace(result.record, spec.trace)
        yield result
        if temporary is not None:
            result.record = None
        if checkpointed is not None:
            checkpointed.done()


def _record_detail(spec: RunSpec, result: Result, progress: Progress, graph: Graph | None) -> None:
    """Record the place of a recorded run that is wanted in detail.

    Raises
    ------
    InputError
        The run has no such place, or its folder cannot be used.
    """
    from cyscc.host.replay.parts import record_place

    assert result.record is not None, "it was recorded"
    assert spec.record_detail is not None, "a place is wanted"
    if (result.record.folder / DETAIL_FOLDER / DOCUMENT).exists():
        return  # the run was interrupted afterwards, and resumed
    record_place(
        result.record,
        Place.parse(spec.record_detail),
        _again(spec, progress, graph),
        interval=spec.record_detail_interval,
    )


def _again(spec: RunSpec, progress: Progress, graph: Graph | None) -> RerunSetting:
    """Return how a run that has just been recorded is made again."""
    return RerunSetting(progress=progress, threads=spec.threads, graph=graph, memory=spec.profile)
