"""The rooms of the project: each imports only what is below it, declares what it offers, and keeps its files short."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("hw", "sim", "host", "cyscc")
ROOMS = (
    "hw",
    "sim",
    *(
        "sim.memory",
        "sim.configuration",
        "sim.observation",
        "sim.export",
        "sim.executors",
        "sim.recorded",
        "sim.recording",
        "sim.stepping",
        "sim.machine",
    ),
    "host",
    *(
        "host.graph",
        "host.mdp",
        "host.devices",
        "host.algorithms",
        "host.results",
        "host.measuring",
        "host.checkpoints",
        "host.record",
    ),
    *("host.running", "host.replay", "host.studies", "host.explain", "host.trace", "host.report", "host.life"),
    *("host.contest", "host.sweep", "host.api"),
    "host.command_line",
    "cyscc",
    "tests",
)
"""From the bottom up: a room may import itself and those before it. Modules of no room are in that of their layer."""

OFFERED = ("hw.config", "hw.verilog")
"""What the host may know of the hardware: the configuration, and the text that tools for FPGAs read."""

LONGEST = 450
"""Lines that a file may have."""


def room_of(module: str) -> str | None:
    """Return the room of a module, given by its dotted name; none if it is not of this project."""
    while module and module not in ROOMS:
        module = module.rpartition(".")[0]
    return module or None


def imported_modules(tree: ast.Module, module: str) -> list[tuple[int, str]]:
    """Return the line and the dotted name of each thing imported, wherever in a module it stands."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


def wrong_imports(source: str, path: str) -> list[str]:
    """Return one line for each import by which the module at `path` reaches above, or from the host into hardware."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    # What a relative import starts from: an `__init__` is the package itself.
    inside = f"{module}.__init__" if path.endswith("/__init__.py") else module
    own = room_of(module)
    assert own is not None
    wrong = []
    for line, name in imported_modules(ast.parse(source), inside):
        room = room_of(name)
        above = room is not None and ROOMS.index(room) > ROOMS.index(own)
        hidden = own.startswith("host") and room == "hw" and not name.startswith(OFFERED)
        if above or hidden:
            wrong.append(f"{path}:{line}: {own} must not import {name if hidden else room}")
    return wrong


def missing_exports(source: str, path: str) -> list[str]:
    """Return a line if the module has code, yet assigns no ``__all__`` at its top level."""
    body = ast.parse(source).body
    if not any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in body):
        return []
    targets: list[ast.expr] = []
    for node in body:
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.AnnAssign):
            targets.append(node.target)
    declared = any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
    return [] if declared else [f"{path}: declares no __all__"]


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """Source of every library module, by path from the root."""
    found = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for layer in LAYERS
        for path in sorted((ROOT / layer).rglob("*.py"))
    }
    assert {path.partition("/")[0] for path in found} == set(LAYERS)
    return found


def test_imports_go_down(modules: dict[str, str]) -> None:
    assert [line for path, source in modules.items() for line in wrong_imports(source, path)] == []


def test_every_room_is_there() -> None:
    places = [ROOT / room.replace(".", "/") for room in ROOMS]
    assert [place for place in places if place.is_dir() == place.with_suffix(".py").is_file()] == []


def test_files_are_short() -> None:
    files = [
        file for top in (*LAYERS, "tests") for file in (ROOT / top).rglob("*") if file.suffix in (".py", ".h", ".cpp")
    ]
    long = {
        file.relative_to(ROOT).as_posix(): lines
        for file in files
        if (lines := len(file.read_text().splitlines())) > LONGEST
    }
    assert len(files) > 300
    assert long == {}


def test_every_module_declares_its_exports(modules: dict[str, str]) -> None:
    libraries = {path: source for path, source in modules.items() if not path.endswith("/__main__.py")}
    assert [line for path, source in libraries.items() for line in missing_exports(source, path)] == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("hw/a.py", "import sim.memory", ["hw/a.py:1: hw must not import sim.memory"]),
        ("hw/a.py", "\nfrom host import command_line", ["hw/a.py:2: hw must not import host.command_line"]),
        ("sim/a.py", "def f():\n    import numpy, host", ["sim/a.py:2: sim must not import host"]),
        ("sim/errors.py", "from .memory import Memory", ["sim/errors.py:1: sim must not import sim.memory"]),
        (
            "sim/memory/a/b.py",
            "from ...executors import c",
            ["sim/memory/a/b.py:1: sim.memory must not import sim.executors"],
        ),
        (
            "host/graph/__init__.py",
            "from ..studies import a",
            ["host/graph/__init__.py:1: host.graph must not import host.studies"],
        ),
        (
            "host/algorithms/a.py",
            "import host.results.tables",
            ["host/algorithms/a.py:1: host.algorithms must not import host.results"],
        ),
        (
            "host/studies/a.py",
            "from host.command_line.main import b",
            ["host/studies/a.py:1: host.studies must not import host.command_line"],
        ),
        (
            "host/results/a.py",
            "from hw.shell import Shell",
            ["host/results/a.py:1: host.results must not import hw.shell.Shell"],
        ),
        ("host/a.py", "from tests.stream import put", ["host/a.py:1: host must not import tests"]),
        ("host/graph/a.py", "import sim\nfrom hw.config import b\nfrom sim.memory import Memory", []),
        ("hw/bfs/__init__.py", "from . import host\nfrom ..config import sim\nimport simple", []),
    ],
)
def test_wrong_import_is_found(path: str, source: str, expected: list[str]) -> None:
    assert wrong_imports(source, path) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1", ["hw/a.py: declares no __all__"]),
        ("def f():\n    __all__ = []", ["hw/a.py: declares no __all__"]),
        ('"""Doc."""\n__all__ = ["x"]\nx = 1', []),
        ("__all__: list[str] = []", []),
        ('"""Only a docstring."""', []),
    ],
)
def test_missing_exports_are_found(source: str, expected: list[str]) -> None:
    assert missing_exports(source, "hw/a.py") == expected


def test_compiled_code_is_kept_by_the_cache_of_the_project(modules: dict[str, str]) -> None:
    own = {
        path
        for path, source in modules.items()
        if re.search(r"^from numba import .*\b(njit|jit|cfunc)\b", source, re.M)
    }
    assert own == set()
