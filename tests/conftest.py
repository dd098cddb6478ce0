"""Fixtures and settings of all tests: reproducible hypothesis runs, time limits, pins and the two real graphs."""

import gc
import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from operator import eq
from pathlib import Path
from typing import Any

import pytest

# Beside a graphics processor there may be nothing but numba, numpy and scipy.
if find_spec("hypothesis"):
    from hypothesis import settings

    # The examples are the same in every run, and a first call may take as long as numba needs to compile.
    settings.register_profile("cyscc", derandomize=True, deadline=None)
    settings.load_profile("cyscc")

LONG_SECONDS = 3600
"""How long a test marked `long` may take."""

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option; have the limits of a test's time known without the plugin that keeps them."""
    parser.addoption("--pins", action="store_true", help="write what tests compare with pins; in one process")
    if not find_spec("pytest_timeout"):
        for name in ("timeout", "timeout_method"):
            parser.addini(name, "of the plugin pytest-timeout, which is not installed")


def pytest_configure(config: pytest.Config) -> None:
    """Ignore that tests of parameters and signatures build components that they never elaborate."""
    if find_spec("amaranth"):
        config.addinivalue_line("filterwarnings", "ignore::amaranth.hdl.UnusedElaboratable")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m gpu``, leave out modules without such tests: they may import what is not installed."""
    if config.getoption("markexpr") != "gpu" or collection_path == ROOT / "tests":
        return None
    modules = [collection_path] if collection_path.is_file() else collection_path.rglob("test_*.py")
    return None if any("@pytest.mark.gpu" in module.read_text() for module in modules) else True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that need a graphics processor where there is none."""
    if item.get_closest_marker("gpu"):
        from numba import cuda

        if not cuda.is_available():
            pytest.skip("there is no graphics processor")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests their own time limit."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))


def pytest_collection_finish() -> None:
    """Keep what was imported from the garbage collector, which takes a tenth of the time to look through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def standard_input(content: bytes) -> Iterator[None]:
    """Have some bytes come from standard input, by a pipe."""
    before, (reading, writing) = os.dup(0), os.pipe()
    os.write(writing, content)
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


class Pins:
    """Expected results by name, kept in a file: compared with it, or written anew with ``--pins``.

    Parameters
    ----------
    path : Path
        The file.
    written : bool
        Whether it is written.
    """

    def __init__(self, path: Path, *, written: bool) -> None:
        self._path = path
        self.written = written
        self._kept: dict[str, Any] = json.loads(path.read_text())

    def check(self, name: str, found: Any, *, same: Callable[[Any, Any], bool] = eq) -> None:
        """Compare a result with what is kept of it, or keep it."""
        if self.written:
            self._keep(self._kept | {name: found})
        else:
            assert same(found, self._kept[name]), f"{name}: was {self._kept[name]!r}, is {found!r}"

    def check_names(self, names: Collection[str]) -> None:
        """Check that nothing is kept that is not there any more, or forget it."""
        if self.written:
            self._keep({name: self._kept[name] for name in names if name in self._kept})
        assert self._kept.keys() <= set(names)

    def _keep(self, pins: dict[str, Any]) -> None:
        self._kept = pins
        self._path.write_text(json.dumps(pins, indent=1) + "\n")


@pytest.fixture
def pins(request: pytest.FixtureRequest) -> Pins:
    """Return the pins beside a module of tests."""
    return Pins(request.path.with_name("pins.json"), written=request.config.getoption("--pins"))


def real_graph(name: str) -> Path:
    """Return the path of a real graph, or skip the test that asks for it.

    Parameters
    ----------
    name : str
        File name in the folder named by the environment variable ``CYSCC_GRAPHS``, by default ``../shared/graphs``
        beside the repository.
    """
    path = Path(os.environ.get("CYSCC_GRAPHS", ROOT.parent / "shared" / "graphs")) / name
    if not path.is_file():
        pytest.skip(f"{path} is not there; CYSCC_GRAPHS names the folder that has it")
    return path


@pytest.fixture(scope="session")
def wiki_vote() -> Path:
    """SNAP wiki-Vote: 7,115 vertices, 103,689 edges."""
    return real_graph("wiki-Vote.txt.gz")


@pytest.fixture(scope="session")
def soc_epinions() -> Path:
    """SNAP soc-Epinions1: 75,879 vertices, 508,837 edges."""
    return real_graph("soc-Epinions1.txt.gz")
