"""The layers of the project: host may import sim and hw, sim may import hw, hw imports neither."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("hw", "sim", "host")
"""From the bottom up: a layer may import itself and those before it."""


def imported_packages(tree: ast.Module, package: str) -> list[tuple[int, str]]:
    """Return the line and the top-level package of each import, wherever in the module it stands.

    Parameters
    ----------
    tree : ast.Module
        The module.
    package : str
        Top-level package that the module belongs to, which is what a relative import reaches.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name.partition(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, (node.module or "").partition(".")[0] if node.level == 0 else package))
    return found


def upward_imports(source: str, path: str) -> list[str]:
    """Return one line for each import by which the module at `path` breaks the layers."""
    package = path.partition("/")[0]
    forbidden = {*LAYERS[LAYERS.index(package) + 1 :], "tests"}
    return [
        f"{path}:{line}: {package} must not import {imported}"
        for line, imported in imported_packages(ast.parse(source), package)
        if imported in forbidden
    ]


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


def test_imports_go_down_the_layers(modules: dict[str, str]) -> None:
    assert [line for path, source in modules.items() for line in upward_imports(source, path)] == []


def test_every_module_declares_its_exports(modules: dict[str, str]) -> None:
    libraries = {path: source for path, source in modules.items() if not path.endswith("/__main__.py")}
    assert [line for path, source in libraries.items() for line in missing_exports(source, path)] == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("hw/a.py", "import sim.memory", ["hw/a.py:1: hw must not import sim"]),
        ("hw/a.py", "\nfrom host.command_line.main import main", ["hw/a.py:2: hw must not import host"]),
        ("sim/a.py", "def f():\n    import numpy, host", ["sim/a.py:2: sim must not import host"]),
        ("host/a.py", "from tests.stream import put", ["host/a.py:1: host must not import tests"]),
        ("host/a.py", "import hw, sim\nfrom sim.memory import Memory", []),
        ("hw/bfs/a.py", "from . import host\nfrom ..config import sim\nimport simple", []),
    ],
)
def test_upward_import_is_found(path: str, source: str, expected: list[str]) -> None:
    assert upward_imports(source, path) == expected


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
