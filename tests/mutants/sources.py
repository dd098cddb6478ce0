"""Mutants of the Python sources of host and simulator, by mutmut, in a copy of the tree."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.conftest import ROOT

_COPIED = ("hw", "sim", "host", "cyscc", "tests", "docs", "pyproject.toml", "Makefile", "README.md", "LICENSE")


def try_sources(paths: Sequence[str], tests: Sequence[str], folder: Path) -> int:
    """Try all mutants of some sources that have not been tried; print those that no test finds.

    Parameters
    ----------
    paths : sequence of str
        Files and folders of host and sim, from the root.
    tests : sequence of str
        Files and folders of tests; by default those that mirror the sources.
    folder : Path
        Where the copy of the tree is, and in it what mutmut keeps.

    Returns
    -------
    int
        Exit status: 1 if a mutant survives, 2 if mutmut is missing or cannot begin.
    """
    if not find_spec("mutmut"):
        print("mutants of Python sources need mutmut: .venv/bin/python -m pip install -e .[mutants]", file=sys.stderr)
        return 2
    tree = _copy(folder / "sources")
    mirrored = [f"tests/{path if (ROOT / path).is_dir() else path.rpartition('/')[0]}" for path in paths]
    settings = {
        "source_paths": ["cyscc"],
        "only_mutate": [f"cyscc/{path}/*" if (ROOT / path).is_dir() else f"cyscc/{path}" for path in paths],
        "also_copy": [name for name in _COPIED if name not in ("cyscc", "tests", "pyproject.toml")],
        "pytest_add_cli_args": ["-m", "not long", "-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": [*(tests or dict.fromkeys(mirrored))],
    }
    with (tree / "pyproject.toml").open("a") as file:
        # What JSON writes of lists of strings is TOML too.
        file.write("\n[tool.mutmut]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    environment = {**os.environ, "CYSCC_CACHE": str(folder / "cache")}
    mutmut = [sys.executable, "-m", "mutmut"]
    if subprocess.run([*mutmut, "run"], cwd=tree, env=environment).returncode:
        return 2
    results = subprocess.run([*mutmut, "results"], cwd=tree, env=environment, capture_output=True, text=True).stdout
    print(results, end="")
    return int(": survived" in results)


def _copy(tree: Path) -> Path:
    """Copy the present tree, with the folders that `cyscc` links to: mutmut follows no links."""
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.rmtree(tree / name, ignore_errors=True)
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, tree / name)
    return tree
