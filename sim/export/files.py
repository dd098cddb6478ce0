"""The files of exported Verilog: sources, constraints, the README."""

import re
import tempfile
import tomllib
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.registers import ControlRegister, engine_register
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import Instruction, Register
from cyscc.hw.verilog import KERNEL_NAMES, application_engine_verilog, axi_verilog, convey_verilog, kernel_verilog
from cyscc.sim.caching.folder import provide_for_tools

_TEMPLATES = Path(__file__).parent / "templates"

_CONSTRAINTS = {
    "ae": ("application_engine.xdc", "vivado.xdc", "clk"),
    "convey": ("application_engine_convey.ucf", "ise.ucf", "clk"),
    "axi": ("application_engine_axi.xdc", "vivado.xdc", "aclk"),
}

_MEANINGS = tomllib.loads((_TEMPLATES / "ports.toml").read_text(encoding="utf-8"))
"""Meanings of ports by top, keyed by patterns of port names."""


class Port(NamedTuple):
    """A port of an exported top: name, direction (``input`` or ``output``), width in bits."""

    name: str
    direction: str
    width: int


def _render(template: str, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(values)


def constraints(top: str, config: AcceleratorConfig) -> tuple[str, str]:
    """Return file name and text of the constraints template for a top.

    Parameters
    ----------
    top : str
        Kind of top.
    config : AcceleratorConfig
        The machine: its clock.
    """
    name, template, port = _CONSTRAINTS[top]
    period = 1000 / config.clock_mhz
    times = {"clock": f"{config.clock_mhz:g}", "period": f"{period:.3f}", "half": f"{period / 2:.3f}"}
    return name, _render(template, port=port, **times)


def meaning(top: str, port: Port) -> str:
    """Return what a port means.

    Parameters
    ----------
    top : str
        Kind of top.
    port : Port
        A port of it.

    Raises
    ------
    KeyError
        The port is unknown.
    """
    for pattern, text in _MEANINGS[top].items():
        if re.fullmatch(pattern, port.name):
            return str(text).format(last=port.width - 1)
    raise KeyError(port.name)


TOPS = ("ae", "convey", "axi")
"""Kinds of top: native ports, ports of an HC-2 personality, AXI."""


def declared_ports(text: str, module: str) -> list[Port]:
    """Return the ports that a module declares, in alphabetical order.

    Parameters
    ----------
    text : str
        Exported Verilog.
    module : str
        Name of a module in it.
    """
    begin = re.search(rf"^module {module}\b", text, re.MULTILINE)
    assert begin is not None
    body = text[begin.start() : text.index("endmodule", begin.start())]
    declared = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", body, re.MULTILINE)
    return sorted(Port(name, direction, int(width or 0) + 1) for direction, width, name in declared)


@lru_cache(maxsize=2)
def _engine(config: AcceleratorConfig) -> dict[str, str]:
    """Return the files that are the same for every top, which take longest to write."""
    texts = {f"{name}.v": kernel_verilog(kind, config) for kind, name in KERNEL_NAMES.items()}
    return texts | {"application_engine.v": application_engine_verilog(config)}


def export_verilog(
    config: AcceleratorConfig, directory: Path, *, top: str = "ae", limits: AxiLimits | None = None
) -> list[Path]:
    """Write one Application Engine as Verilog, with a file list, constraints and a README of the ports.

    All AEs of a machine are identical; each gets its number as an input. Kernels and engine have the same text for each
    top: the other tops are adapters around the native one.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    directory : Path
        Target folder, created if missing. Existing files are replaced, all or none.
    top : str
        One of `TOPS`.
    limits : AxiLimits, optional
        Most outstanding transactions of each master of the ``axi`` top.

    Returns
    -------
    list of Path
        The Verilog files in compilation order, then the others.

    Raises
    ------
    ValueError
        The top is unknown.
    OSError
        The directory cannot be written.
    BuildError
        There is no place for files of Yosys.
    """
    if top not in TOPS:
        raise ValueError(f"top must be one of {', '.join(TOPS)}, not {top!r}")
    limits = limits or AxiLimits()
    provide_for_tools()
    texts = dict(_engine(config))
    if top != "ae":
        adapters = convey_verilog(config) if top == "convey" else axi_verilog(config, limits)
        texts |= {f"{name}.v": text for name, text in adapters.items()}
    sources = list(texts)
    module = sources[-1].removesuffix(".v")
    ports: dict[str, tuple[str, int, str]] = {}
    for port in declared_ports(texts[sources[-1]], module):
        shown = re.sub(r"(?<=^m)\d\d(?=_axi_)|(?<=^mc)\d(?=_)|(?<=^port_)\d+(?=_)", "<n>", port.name)
        ports.setdefault(shown, (port.direction, port.width, meaning(top, port)))
    name, text = constraints(top, config)
    texts |= {"files.f": "".join(f"{source}\n" for source in sources), name: text}
    texts["README.md"] = _render(
        "readme.md",
        top=top,
        module=module,
        files=sources,
        config=config,
        ports=ports,
        registers=Register,
        engine_register=engine_register,
        slave=ControlRegister,
        instructions=Instruction,
        settings=asdict(config) | (asdict(limits) if top == "axi" else {}),
    )
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".verilog-", dir=directory) as folder:
        for name, text in texts.items():
            try:
                (Path(folder) / name).write_text(text, encoding="utf-8")
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(directory / name)) from None
        return [(Path(folder) / name).replace(directory / name) for name in texts]
