"""`timing`: the clocks that the parts of an engine reach on an FPGA."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyscc.host.interface.notes import Config, Jobs, Keep, Output, Wanted
from cyscc.host.interface.synth import OwnSet
from cyscc.host.specification.ask import Ask, SpecError, question

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer
    from cyscc.host.experiments.measuring.measurements import Measurements

__all__ = ["timing"]


def _component(text: str) -> str:
    """Return the name of a component."""
    from cyscc.host.experiments.fpga.timing import COMPONENTS

    if text not in COMPONENTS:
        raise ValueError(f"unknown component {text!r}: there are {', '.join(COMPONENTS)}")
    return text


Seeds = Annotated[int, Ask(help="runs per component (default: {default})", metavar="N", low=1, high=1000)]
Components = Annotated[
    "Sequence[str] | str",
    Ask(
        help="what to run: bfs_kernel, intersection_kernel, shell, and kernel_slice, link_slice, exchange_slice of a "
        "machine that has them; may be repeated (default: all)",
        metavar="NAME",
        parse=_component,
        repeated=True,
    ),
]


@question(
    examples="""examples:
  cyscc timing --config fast --jobs 2
  cyscc timing --component bfs_kernel --set pair_reads=true --seeds 3
"""
)
def timing(
    *,
    config: Config = "hc2",
    overrides: OwnSet = None,
    seeds: Seeds = 5,
    component: Components = (),
    keep: Keep = None,
    jobs: Jobs = None,
    output: Output = "build",
    progress: Wanted = False,
) -> "Answer":
    """Place and route the parts of an engine for ECP5.

    Each kind of part of an engine is placed and routed for an ECP5-85k; the answer has the clocks that they reach.

    Raises
    ------
    ValueError
        The configuration, an override, or a component is invalid.
    InputError
        A file cannot be written.
    SimulationError
        A tool is missing or failed.
    """
    from cyscc.host.experiments.fpga import tools
    from cyscc.host.experiments.fpga.timing import components_of, measure, timing_answer
    from cyscc.host.interface.experiments import experiment, overrides_of
    from cyscc.host.specification.run import resolved_configuration

    changed = overrides_of(overrides, config=True)
    name = changed.config_text(config if isinstance(config, str) else "own")
    machine = resolved_configuration(config, changed)
    there = components_of(machine)
    names = tuple(dict.fromkeys([component] if isinstance(component, str) else component)) or there
    for each in names:
        if each not in there:
            raise SpecError("component", f"{name} has no {each}")

    def make(measurements: "Measurements") -> "Answer":
        for tool in (tools.YOSYS, tools.NEXTPNR):
            tools.check_tool(tool)
        with tools.work_folder(keep) as folder:
            return timing_answer(measure(measurements, machine, names=names, seeds=seeds, folder=folder), name=name)

    return experiment("timing", make, output=output, jobs=jobs, verify=False, again=keep is not None, progress=progress)
