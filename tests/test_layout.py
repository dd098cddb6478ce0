"""Packages import only lower layers, what is private stays in its module, files are short; locks are exact."""

import ast
import re
import tomllib
from fnmatch import fnmatch

import pytest
from importlinter.cli import lint_imports

from tests.conftest import ROOT
from tests.reaching import reaching

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


def test_what_begins_with_an_underscore_stays_in_its_module() -> None:
    modules = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py")]
    assert {
        f"{path.relative_to(ROOT)}: {name.name}"
        for path in modules
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cyscc.")
        for name in node.names
        if name.name.startswith("_")
    } == set()


def test_files_beside_the_code_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (patterns,) = project["tool"]["setuptools"]["package-data"].values()
    # Each folder of code is a package, to which patterns are relative.
    known = [f"*/{pattern}".replace("*/**/", "*/") for pattern in patterns]
    files = [file for top in LAYERS for file in (ROOT / top).rglob("*") if file.is_file() and file.suffix != ".pyc"]
    beside = {file.relative_to(ROOT).as_posix() for file in files if file.suffix != ".py"}
    assert {f"host/experiments/{name}" for name in ("sheets.toml", "studies/papers/li-fig2.csv")} <= beside
    assert {name for name in beside if not any(fnmatch(name, pattern) for pattern in known)} == set()


def test_of_numba_only_the_public_interface_is_used() -> None:
    # The modules that numba's documentation names; the rest changes with any version.
    public = ("numba", "numba.cuda", "numba.types", "numba.config", "numba.extending")
    imported = {
        module
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names])
        if module.partition(".")[0] in ("numba", "llvmlite")
    }
    assert "numba" in imported
    assert imported <= set(public)


def test_which_tests_reach_a_file() -> None:
    # Imported by a name that is computed, from the command line, too.
    assert "tests/system/test_cli.py" in reaching("host/baselines/software/li.py")
    found = reaching("sim/memory/native/profiles/dram.h")
    assert found.index("tests/sim/memory/test_dram.py") < found.index("tests/system/test_machines.py")


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = {
    "requirements.lock": [
        *PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"]["dev"],
        *PROJECT["project"]["optional-dependencies"]["docs"],
        *PROJECT["project"]["optional-dependencies"]["cluster"],
        *PROJECT["project"]["optional-dependencies"]["search"],
    ],
    "requirements-fpga.lock": PROJECT["dependency-groups"]["fpga"],
    "requirements-supply.lock": PROJECT["dependency-groups"]["supply"],
}
PIN = re.compile(r"^([\w.-]+)==[\w.]+(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n", re.MULTILINE)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_lock_is_made_and_audited() -> None:
    (line,) = re.findall("^LOCKS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(line.split()) == set(LOCKS) == {path.name for path in ROOT.glob("requirements*.lock")}


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_have_versions_and_hashes_and_nothing_else(lock: str) -> None:
    text = (ROOT / lock).read_text()
    rest = PIN.sub("", text)
    assert all(line.startswith("#") for line in rest.splitlines()), rest
    pinned = {normal(name) for name in PIN.findall(text)}
    wanted = {normal(re.split(r"[\[<>=]", requirement)[0]) for requirement in LOCKS[lock]}
    assert wanted
    assert wanted <= pinned
