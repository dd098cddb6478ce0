"""Fixtures and settings of all tests: reproducible hypothesis runs, time limits and the two real graphs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.life import Searched

# The examples are the same in every run, and a first call may take as long as numba needs to compile.
settings.register_profile("cyscc", derandomize=True, deadline=None)
settings.load_profile("cyscc")

LONG_SECONDS = 3600
"""How long a test marked `long` may take."""

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests their own time limit."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))


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


@pytest.fixture(scope="session")
def search_waves(tmp_path_factory: pytest.TempPathFactory) -> "Searched":
    """Search a small random graph on `test`, with waveforms."""
    # Most tests need none of what this imports.
    from cyscc.hw.config import PRESETS
    from tests.life import searched

    return searched(tmp_path_factory.mktemp("search"), PRESETS["test"], "hc2", executor="compiled")
