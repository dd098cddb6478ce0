"""`verilog`: the hardware as Verilog."""

from os import PathLike
from typing import TYPE_CHECKING, Annotated

from cyscc.host.interface.notes import Config, Set, Wanted
from cyscc.host.specification.ask import Ask, Rule, SpecError, question

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

__all__ = ["verilog"]

_TOPS = ("ae", "convey", "axi")


def _outstanding(name: str) -> Ask:
    return Ask(
        help=f"{name} that each AXI master may have outstanding: a power of two from 4 to 512 (default: 64)",
        metavar="N",
        low=1,
    )


@question(
    rules=(Rule(("outstanding_reads", "outstanding_writes"), needs=("top=axi",), why="only it has AXI masters"),),
    examples="examples:\n  cyscc verilog -o rtl\n  cyscc verilog --config hc2-1ae --top axi -o rtl\n",
)
def verilog(
    *,
    config: Config = "hc2",
    overrides: Set = None,
    top: Annotated[
        str,
        Ask(
            help="ports: ae (default): native streams; convey: those of an HC-2 personality; axi: AXI4 and AXI4-Lite",
            choices=_TOPS,
        ),
    ] = "ae",
    outstanding_reads: Annotated[int | None, _outstanding("reads")] = None,
    outstanding_writes: Annotated[int | None, _outstanding("writes")] = None,
    output: Annotated["str | PathLike[str]", Ask(help="the folder to write to", metavar="DIR", short="-o")],
    progress: Wanted = False,
) -> "Answer":
    """Write one Application Engine as Verilog, each kind of module once, with constraints and a README of its ports.

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
    """
    from pathlib import Path

    from cyscc.host.answer.answer import Answer
    from cyscc.host.interface.machines import machine
    from cyscc.host.output.files import check_folder, removing_empty
    from cyscc.host.output.progress import Progress
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
