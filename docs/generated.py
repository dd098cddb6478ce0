"""Parts of the pages that are made from the code when the documentation is built.

A page names them in comments, which no viewer shows::

    `cyscc explain --help` lists the options. <!-- table: options explain -->

    <!-- columns: parameters hc2 -->

    | parameter | origin |
    |---|---|
    | `bank_busy` | 100 ns in the same model |

The first line is replaced by a table, so its text is for readers of the plain file. The second one adds columns to the
table below it, behind its first column, and refuses a table whose first column does not name what the code has, in its
order.
"""

import argparse
import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import IntEnum, IntFlag
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_type_hints

from cyscc.host.analysis.event_kinds import KINDS as EVENT_KINDS
from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.mdp.families import FAMILIES
from cyscc.host.command_line.commands import COMMANDS, make_parser
from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS
from cyscc.host.interface.generate import GRAPHS
from cyscc.host.record.tables import TABLES
from cyscc.hw.axi.registers import AxiStatus, ControlRegister
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.causes import CAUSES, Cause
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.registers import Counter, Instruction, KernelWord, Register, Status
from cyscc.sim.memory import Ddr4, Fixed, Hbm2, Hc2, Profile, Stress
from tests.formal.proof import kept_mutants
from tests.formal.solve import PROVE
from tests.formal.table import PROOFS

__all__ = ["COLUMNS", "TABLES_OF_PAGES", "generated"]

Columns = tuple[Sequence[str], Mapping[str, Sequence[object]]]
"""Headings of columns, and their cells by the first cell of the row."""

_PROFILES: dict[str, type[Profile]] = {profile.name: profile for profile in (Hc2, Hbm2, Ddr4, Fixed, Stress)}
_KERNELS = {"bfs": BfsKernel, "intersection": IntersectionKernel}
_ENUMERATIONS: dict[str, type[IntEnum] | type[IntFlag]] = {
    kind.__name__: kind for kind in (Register, Instruction, Status, KernelWord, ControlRegister, AxiStatus)
}


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _escaped(text: str) -> str:
    """Return plain text such that Markdown shows it as it is in a cell of a table; backquotes still mark code."""
    return re.sub(r"([|*<>])", r"\\\1", text)


def _range(low: int, high: int) -> str:
    """Return a range of integers, large ones as powers of two."""

    def number(value: int) -> str:
        for less in range(3):
            if value + less > 1 << 16 and (value + less).bit_count() == 1:
                return f"2^{(value + less).bit_length() - 1}" + (f" − {less}" if less else "")
        return f"{value:,}"

    return f"{number(low)} to {number(high)}"


# The command line.


@cache
def _parsers() -> Mapping[str, argparse.ArgumentParser]:
    """Return the parsers of all commands."""
    # A line that begins with no command, and names all.
    parser = make_parser(("--help", *COMMANDS))
    (found,) = (each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return found


def _spelling(action: argparse.Action) -> str:
    """Return an option with its value, as it is given on the command line."""
    value = "" if action.nargs == 0 else f" {action.metavar or '|'.join(action.choices or ())}"
    return f"`{', '.join(action.option_strings)}{value}`".replace("|", r"\|")


def options(*commands: str) -> str:
    """Return the options of commands; those that only some of them have name these."""
    users: dict[tuple[str, str], list[str]] = {}
    for name in commands:
        parser = _parsers()[name]
        formatter = parser._get_formatter()
        for action in parser._actions:
            if action.option_strings and "--help" not in action.option_strings:
                # The number of cores is that of the computer on which the pages are built.
                text = re.sub(r"the cores, \d+", "the cores", formatter._expand_help(action))
                users.setdefault((_spelling(action), _escaped(text)), []).append(f"`{name}`")
    rows = [
        (option, text if len(names) == len(commands) else f"{', '.join(names)}: {text}")
        for (option, text), names in users.items()
    ]
    # What is said of one option for several commands stands together, where the first one is.
    first = {option: place for place, (option, _) in reversed(list(enumerate(rows)))}
    rows.sort(key=lambda row: first[row[0]])
    return _table(("option", "meaning"), rows)


def reproductions() -> str:
    """Return the tables and figures that can be reproduced, with their options."""
    rows = [
        (f"`{name}`", _escaped(f"{about.title}: {about.text}"), f"`{about.defaults()}`")
        for name, about in REPRODUCTIONS.items()
    ]
    return _table(("figure", "content", "options and defaults"), rows)


def graphs() -> str:
    """Return the kinds of generated graphs."""
    return _table(("kind", "content"), [(f"`{name}`", _escaped(text)) for name, text in GRAPHS.items()])


def algorithms() -> str:
    """Return the software algorithms."""
    rows = [
        (f"`{name}`", kind.text, "`--threads`" if kind.threads else "1", "yes" if kind.devices else "no")
        for name, kind in KINDS.items()
    ]
    return _table(("algorithm", "description", "threads", "made of steps"), rows)


def families() -> str:
    """Return the families of Markov decision processes, with their sizes."""
    rows = [
        (f"`{name}`", f"`{size}`", about.text, about.default, _range(about.least, about.most))
        for name, family in FAMILIES.items()
        for size, about in family.sizes.items()
    ]
    return _table(("family", "size", "meaning", "default", "values"), rows)


# Configuration and memory.


def presets() -> str:
    """Return the presets with the values of each key, and those that it can have."""
    kinds = get_type_hints(AcceleratorConfig, include_extras=True)

    def values(name: str) -> str:
        if kinds[name] is bool:
            return "true, false"
        (limits,) = kinds[name].__metadata__
        return f"{limits.ge} to {limits.le}" if limits.gt is None else f"above {limits.gt}, at most {limits.le}"

    rows = [
        (f"`{name}`", *(str(getattr(config, name)).lower() for config in PRESETS.values()), values(name))
        for name in (each.name for each in fields(AcceleratorConfig))
    ]
    return _table(("key", *(f"`{name}`" for name in PRESETS), "values"), rows)


def parameters(*profiles: str) -> Columns:
    """Return the defaults of memory profiles with the same parameters, and the range of these."""
    several = [fields(_PROFILES[name]) for name in profiles]
    cells = {
        same[0].name: (*(each.default for each in same), _range(same[0].metadata["low"], same[0].metadata["high"]))
        for same in zip(*several, strict=True)
    }
    return (*(("default",) if len(profiles) == 1 else profiles), "values"), cells


def profiles() -> Columns:
    """Return how `--memory` names each profile, with the range of the number behind it."""

    def named(profile: type[Profile]) -> str:
        short = {each.name: each for each in fields(profile)}.get(profile.short)
        if short is None:
            return f"`{profile.name}`"
        number = f"`{profile.name}:{short.name.upper()}`, {_range(short.metadata['low'], short.metadata['high'])}"
        return number if short.default is MISSING else f"`{profile.name}`, {number}, default {short.default}"

    return ("`--memory`",), {name: (named(profile),) for name, profile in _PROFILES.items()}


# Registers.


def enumeration(name: str) -> str:
    """Return number, name and meaning of an enumeration's members; of flags, the number of the bit."""
    kind = _ENUMERATIONS[name]
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    meanings = {
        target.id: " ".join(inspect.cleandoc(text).split())
        for statement, after in pairwise(definition.body)
        if isinstance(statement, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        for target, text in [(statement.targets[0], after.value.value)]
        if isinstance(target, ast.Name) and isinstance(text, str)
    }
    bits, wide = issubclass(kind, IntFlag), max(kind) > 255
    rows = [
        (each.value.bit_length() - 1 if bits else f"{each:#x}" if wide else int(each), f"`{each.name}`", text)
        for each in kind
        for text in [_escaped(re.sub(r"`\w+\.(\w+)`", r"`\1`", meanings[str(each.name)]))]
    ]
    return _table(("bit" if bits else "address" if wide else "number", "name", "meaning"), rows)


def counters() -> str:
    """Return the event counters of kernels."""
    rows = [(KernelWord.COUNTER_0 + each, f"`{each.name}`", each.bfs, each.intersection) for each in Counter]
    return _table(("word", "name", "BFS kernel", "intersection kernel"), rows)


def state(kernel: str) -> Columns:
    """Return word and bits of the fields of a kernel's state."""
    cells = {
        name: (f"`{word.name}`", str(last) if field.width == 1 else f"{field.offset}..{last}")
        for word, layout in _KERNELS[kernel].WORDS.items()
        for name, field in layout
        for last in [field.offset + field.width - 1]
    }
    return ("word", "bits"), cells


# Causes and records.


def causes_of_kernels() -> str:
    """Return the causes of a kernel's cycles in statistics."""
    return _table(("cause", "when"), [(f"`{each.row.name}`", each.row.about) for each in Cause])


def causes_of_records() -> str:
    """Return the causes of cycles in records."""
    return _table(("cause", "in columns", "when"), [(each.title, f"`{each.name}`", each.about) for each in CAUSES])


def tables_of_records() -> str:
    """Return the tables of records, with their columns."""
    head = ("column", "type", "unit", "meaning")
    return "\n\n".join(
        f"### `{table.name}`\n\n{table.about}\n\n"
        + _table(head, [(f"`{each.name}`", each.kind, each.unit, each.about) for each in table.columns])
        for table in TABLES
    )


def events() -> str:
    """Return the kinds of events."""
    rows = [
        (
            f"`{name}`",
            kind.about[0].upper() + kind.about[1:],
            kind.unit,
            ", ".join(f"`--{each}`" for each in kind.parts),
            "replay" if kind.replayed else "record",
        )
        for name, kind in EVENT_KINDS.items()
    ]
    return _table(("kind", "an event is", "size", "restricted by", "from the"), rows)


# Proofs and mutants.


def proofs() -> str:
    """Return the proofs with their claims, and the number of their mutants."""
    rows = [
        (
            f"`{each.name}`",
            each.claim,
            f"{'always' if each.mode == PROVE else 'bounded'} ({each.depth})",
            len(kept_mutants(each)),
        )
        for each in PROOFS
    ]
    return _table(("proof", "claim", "proven", "faults"), rows)


def without_mutants() -> str:
    """Return the components of the machines that have no row in the tables of mutants."""
    root = Path(__file__).resolve().parents[1]
    measured = set(re.findall(r"^\| `([\w/]+)` ", (root / "docs" / "mutants.md").read_text(), re.MULTILINE))
    sources = {str(path.relative_to(root / "hw").with_suffix("")): path for path in (root / "hw").rglob("*.py")}
    rows = [
        (f"`{name}`",)
        for name, path in sorted(sources.items())
        if not name.startswith(("axi/", "convey/"))
        and name not in {*measured, "verilog"}
        and "(wiring.Component):" in path.read_text()
    ]
    return _table(("file of `hw` without mutants so far",), rows)


TABLES_OF_PAGES: dict[str, Callable[..., str]] = {
    each.__name__: each
    for each in (
        *(options, graphs, reproductions, algorithms, families, presets, enumeration, counters),
        *(causes_of_kernels, causes_of_records, tables_of_records, events, proofs, without_mutants),
    )
}
"""Functions that make a table, by the name in a page; words behind the name are their arguments."""

COLUMNS: dict[str, Callable[..., Columns]] = {each.__name__: each for each in (parameters, profiles, state)}
"""Functions that make columns for a table of a page, likewise."""

_TABLE = re.compile(r"^.*<!-- table: (?P<name>\w+)(?P<words>.*?) -->$", re.MULTILINE)
_COLUMNS = re.compile(r"^<!-- columns: (?P<name>\w+)(?P<words>.*?) -->\n\n(?P<table>(?:^\|.*\n)+)", re.MULTILINE)


def _with_columns(mark: re.Match[str]) -> str:
    head, cells = COLUMNS[mark["name"]](*mark["words"].split())
    first, _, *rows = ([cell.strip() for cell in row.strip("|").split(" |")] for row in mark["table"].splitlines())
    keys = [row[0].strip("`") for row in rows]
    if keys != list(cells):
        raise ValueError(f"columns: {mark['name']}{mark['words']}: the table has {keys}, the code {list(cells)}")
    return _table(
        (first[0], *head, *first[1:]),
        [(row[0], *cells[key], *row[1:]) for key, row in zip(keys, rows, strict=True)],
    )


def generated(page: str) -> str:
    """Return a page with its tables and columns.

    Raises
    ------
    KeyError, ValueError
        The page names a table that does not exist, or the first column of a table is not that of the code.
    """
    page = _TABLE.sub(lambda mark: TABLES_OF_PAGES[mark["name"]](*mark["words"].split()), page)
    return _COLUMNS.sub(lambda mark: _with_columns(mark) + "\n", page)
