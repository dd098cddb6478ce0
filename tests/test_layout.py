"""Packages import only lower layers, modules declare their exports, and files are short."""

import ast
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("hw", "sim", "host", "cyscc")

LONGEST = 900
"""Lines that a file may have."""


def test_imports_go_down() -> None:
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_files_are_short() -> None:
    files = [
        file for top in (*LAYERS, "tests") for file in (ROOT / top).rglob("*") if file.suffix in (".py", ".h", ".cpp")
    ]
    lines = {file.relative_to(ROOT).as_posix(): len(file.read_text().splitlines()) for file in files}
    assert len(lines) > 300
    assert {file: count for file, count in lines.items() if count > LONGEST} == {}


def test_every_module_declares_its_exports() -> None:
    modules = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py") if path.name != "__main__.py"]
    sources = {path.relative_to(ROOT).as_posix(): path.read_text() for path in modules}
    silent = {path for path, source in sources.items() if not re.search(r"^__all__\b", source, re.MULTILINE)}
    # A package may consist of its docstring.
    assert {path for path in silent if len(ast.parse(sources[path]).body) > 1} == set()


def test_files_beside_the_code_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (patterns,) = project["tool"]["setuptools"]["package-data"].values()
    # Each folder of code is a package, to which patterns are relative.
    known = [f"*/{pattern}".replace("*/**/", "*/") for pattern in patterns]
    files = [file for top in LAYERS for file in (ROOT / top).rglob("*") if file.is_file() and file.suffix != ".pyc"]
    beside = {file.relative_to(ROOT).as_posix() for file in files if file.suffix != ".py"}
    assert {f"host/experiments/{name}" for name in ("sheets.toml", "studies/papers/li-fig2.csv")} <= beside
    assert {name for name in beside if not any(fnmatch(name, pattern) for pattern in known)} == set()
