"""Plugin of pytest for processes under a sanitizer, configured by the environment that `make sanitize` sets."""

import json
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest

from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.executors.compiled import executor as compiled
from tests.sanitizers.fences import fence

LIBRARIES = "CYSCC_WATCHED_LIBRARIES"
"""Variable with the libraries of machines by preset, as JSON."""

TOLD = "CYSCC_WATCHED_BY"
"""Variable with the prefix of the sanitizer's functions, ``asan`` or ``tsan``."""

_THREADS = 3


def watch() -> None:
    """Fence the memory's arrays or have threads; take only machines that are built, since others take long."""
    if os.environ[TOLD] == "asan":
        fence()
    else:
        _have_threads()
    libraries = json.loads(os.environ[LIBRARIES])

    def find_library(config: AcceleratorConfig, *, waves: bool, on_step: Any = None) -> Path:
        for name, library in libraries.items():
            if config == PRESETS[name] and not waves:
                return Path(library)
        _skip()

    compiled.build_library = find_library


def _have_threads() -> None:
    """Run every machine on several threads, whatever a test says."""
    make = compiled.CompiledExecutor

    def make_threaded(*arguments: Any, threads: int = 1, **options: Any) -> compiled.CompiledExecutor:
        return make(*arguments, threads=max(threads, _THREADS), **options)

    compiled.CompiledExecutor = make_threaded  # type: ignore[misc, assignment]


def _skip() -> NoReturn:
    pytest.skip("this machine is not built for a sanitizer")


def pytest_configure() -> None:
    """Watch the tests."""
    watch()
