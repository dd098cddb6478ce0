"""The hardware on FPGAs: `verilog` writes it, `synth` and `area` its resources, `timing` its clocks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.studies.paper import DEVICES, FAMILY
from cyscc.host.interface import notes
from cyscc.host.interface.experiments import experiment, several
from cyscc.host.interface.given import machine, overrides_of
from cyscc.host.output.files import check_folder, removing_empty
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import SpecError, question
from cyscc.host.specification.numbers import checked_number
from cyscc.host.specification.run import resolved_configuration

if TYPE_CHECKING:
    from cyscc.host.experiments.fpga.hierarchy import Resources, Usage
    from cyscc.host.experiments.plan.plan import Plan
    from cyscc.sim.configuration import AcceleratorConfig


@question()
def verilog(
    *,
    config: notes.Machine = "hc2",
    overrides: notes.Values = None,
    top: str = "ae",
    outstanding_reads: int | None = None,
    outstanding_writes: int | None = None,
    output: notes.File,
    progress: notes.Wanted = False,
) -> Answer:
    """Write one Application Engine as Verilog.

    It has each kind of module once, with constraints and a README of its ports.

    Parameters
    ----------
    config, overrides
        The machine.
    top : str
        Ports of the top module.
    outstanding_reads, outstanding_writes : int, optional
        Transactions that each AXI master may have outstanding.
    output : str or path
        The folder.
    progress : bool
        Show progress on standard error if it is a terminal.

    Raises
    ------
    SpecError
        An argument is invalid.
    InputError
        The folder cannot be written to.
    SimulationError
        A tool is missing or failed.

    Examples
    --------
    cyscc verilog -o rtl
    cyscc verilog --config hc2-1ae --top axi -o rtl
    """
    from cyscc.sim.export import AxiLimits, export_verilog

    check_folder(str(output), "--output")
    made = machine(config, overrides)
    given = {"outstanding_reads": outstanding_reads, "outstanding_writes": outstanding_writes}
    try:
        limits = AxiLimits(**{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        name = next((each for each in given if str(error).startswith(each)), "")
        raise SpecError(name, str(error).removeprefix(name).lstrip()) from None
    folder = Path(output)
    with removing_empty(folder), Progress.of(progress).step("writing Verilog"):
        paths = [str(path) for path in export_verilog(made, folder, top=top, limits=limits)]
    return Answer(title=f"{folder}: one Application Engine as Verilog", said=paths, fields={"files": paths})


@question()
def synth(
    *,
    config: "Sequence[str | AcceleratorConfig] | str | AcceleratorConfig" = "hc2",
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    family: Sequence[str] | str = tuple(DEVICES),
    depth: Sequence[int] | int = (),
    keep: notes.MaybeFile = None,
    jobs: int | None = None,
    output: notes.File = "build",
    progress: notes.Wanted = False,
) -> Answer:
    """Synthesise an engine for Virtex-5 and Virtex-6.

    One Application Engine is synthesised with Yosys; what it takes stands beside the paper's.

    Raises
    ------
    ValueError
        A configuration, an override, a family or a depth is invalid.
    InputError
        A file cannot be written.
    SimulationError
        Yosys is missing or failed.

    Examples
    --------
    cyscc synth --config hc2 --config published
    cyscc synth --family xc5v --set pair_reads=true
    cyscc synth --family xc5v --depth 32 --depth 64 --jobs 2
    """
    from cyscc.host.experiments.fpga.area import checked_family
    from cyscc.host.experiments.fpga.synthesis import synthesis_answer, synthesised

    changed, depths = overrides_of(overrides, config=True), several(depth)
    machines = {
        changed.config_text(each if isinstance(each, str) else "own"): resolved_configuration(each, changed)
        for each in several(config)
    }
    families = tuple(map(checked_family, several(family)))

    def make(measurements: "Plan") -> Answer:
        made = synthesised(measurements, machines, families=families, depths=depths, keep=keep)
        return synthesis_answer(made)

    name = "synthesis-depth" if depths else "synthesis"
    return experiment(name, make, output=output, jobs=jobs, verify=False, again=keep is not None, progress=progress)


class Area(Answer):
    """Area of a machine on an FPGA family.

    Attributes
    ----------
    config : AcceleratorConfig
        The machine.
    family : str
        ``xc5v`` or ``xc6v``.
    engine, machine : Resources
        Resources of one AE, and of all.
    components : pandas.DataFrame
        The kinds of components of an AE, the largest first: resources of one, and of all of them.
    """

    def __init__(self, config: "AcceleratorConfig", family: str, usage: "Usage") -> None:
        from cyscc.host.experiments.fpga.synthesis import component_rows
        from cyscc.host.experiments.sheets import sheet_of

        self.config, self.family = config, family
        self.engine: Resources = usage.total
        self.machine = usage.total * config.engines
        sheet = sheet_of("area")
        super().__init__(
            title=sheet.title.format(family=family),
            tables={"components": sheet.tables["components"].table(component_rows(usage))},
            fields={"engine": self.engine.document(), "machine": self.machine.document()},
        )


def area(
    config: "AcceleratorConfig | str" = "hc2",
    *,
    family: str = FAMILY,
    overrides: Mapping[str, Any] | None = None,
    jobs: int = 1,
    progress: notes.Wanted = False,
) -> Area:
    """Synthesise a machine, and return its area. Modules that any machine had before are found in the cache.

    Parameters
    ----------
    config : AcceleratorConfig or str
        The configuration, its name or its file.
    family : str
        The FPGA family: ``xc5v`` or ``xc6v``.
    overrides : mapping, optional
        Values that replace those of the configuration, by name: ``{"word_depth": 64}``.
    jobs : int
        Number of processes; with several, a script needs ``if __name__ == "__main__":``.
    progress : bool
        Show progress on standard error if it is a terminal.

    Raises
    ------
    ValueError
        The configuration or the family does not exist, or the configuration is invalid.
    InputError
        A stored synthesis is damaged.
    SimulationError
        Yosys is missing or failed.
    """
    from cyscc.host.experiments.fpga.area import checked_family, machine_areas
    from cyscc.host.experiments.plan.plan import Plan

    jobs = checked_number("jobs", jobs, low=1)
    made = machine(config, overrides)
    families = (checked_family(family),)
    plan = Plan(folder=Path(), jobs=jobs, families=families, progress=Progress.of(progress))
    found = machine_areas(plan, [made])
    return Area(made, family, found[made, family])


def _component(text: str) -> str:
    """Return the name of a component."""
    from cyscc.host.experiments.fpga.timing import COMPONENTS

    if text not in COMPONENTS:
        raise ValueError(f"unknown component {text!r}: there are {', '.join(COMPONENTS)}")
    return text


@question()
def timing(
    *,
    config: notes.Machine = "hc2",
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    seeds: int = 5,
    component: Sequence[str] | str = (),
    keep: notes.MaybeFile = None,
    jobs: int | None = None,
    output: notes.File = "build",
    progress: notes.Wanted = False,
) -> Answer:
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

    Examples
    --------
    cyscc timing --config fast --jobs 2
    cyscc timing --component bfs_kernel --set pair_reads=true --seeds 3
    """
    from cyscc.host.experiments.fpga import tools
    from cyscc.host.experiments.fpga.timing import components_of, measure, timing_answer

    changed = overrides_of(overrides, config=True)
    name = changed.config_text(config if isinstance(config, str) else "own")
    made = resolved_configuration(config, changed)
    there = components_of(made)
    names = tuple(several(component)) or there
    for each in names:
        if each not in there:
            raise SpecError("component", f"{name} has no {each}")

    def make(measurements: "Plan") -> Answer:
        for tool in (tools.YOSYS, tools.NEXTPNR):
            tools.check_tool(tool)
        with tools.work_folder(keep) as folder:
            return timing_answer(measure(measurements, made, names=names, seeds=seeds, folder=folder), name=name)

    return experiment("timing", make, output=output, jobs=jobs, verify=False, again=keep is not None, progress=progress)
