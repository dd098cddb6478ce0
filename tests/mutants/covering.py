"""Coverage by test, and the duration of each test: a plugin of pytest, and its stored data.

``pytest -p tests.mutants.covering`` adds to the folder that the environment variable `FOLDER` names. Lines that a
shared fixture runs count for every test that has the fixture.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = "CYSCC_COVERING"
"""The environment variable with the folder of the stored data."""

ROOT = Path(__file__).resolve().parents[2]
_DATA = "lines.db"
_TESTS = "tests.jsonl"


class Covering:
    """Coverage data from earlier runs.

    Parameters
    ----------
    folder : Path
        Where it is.
    root : Path
        Where the sources were.

    Attributes
    ----------
    seconds : dict of str to float
        How much time of the processor each test takes.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self._root = root
        self._lines = coverage.CoverageData(basename=str(folder / _DATA))
        self._lines.read()
        self.seconds: dict[str, float] = {}
        self._users: dict[str, set[str]] = defaultdict(set)
        for line in (folder / _TESTS).read_text().splitlines():
            test = json.loads(line)
            self.seconds[test["test"]] = test["seconds"]
            for fixture in test["fixtures"]:
                self._users[fixture].add(test["test"])

    def tests(self, file: str, lines: range) -> list[str]:
        """Return the tests that run any of some lines, the quickest first.

        What runs on import alone, and compiled functions, which nobody sees run, have those of the whole file; a file
        of such functions those of its folder.

        Parameters
        ----------
        file : str
            The source, from the root.
        lines : range
            The lines.
        """
        contexts = self._lines.contexts_by_lineno(str(self._root / file))
        ran = {context for line in lines for context in contexts.get(line, [])} - {""}
        ran = ran or {context for of_line in contexts.values() for context in of_line} - {""}
        tests = {test for context in ran for test in self._users.get(context, {context})} & self.seconds.keys()
        beside = f"tests/{file.rpartition('/')[0]}/"
        tests = tests or {test for test in self.seconds if test.startswith(beside)}
        return sorted(tests, key=lambda test: (self.seconds[test], test))


class _Plugin:
    """Tells the measurement whose turn it is."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._tests = folder / _TESTS
        self._measured = coverage.Coverage(
            data_file=str(folder / _DATA),
            source=[str(ROOT / "host"), str(ROOT / "sim"), str(ROOT / "cyscc")],
            config_file=False,
            messages=False,
        )
        self._measured.load()
        self._measured.start()
        self._now = ""

    def _switch(self, context: str) -> str:
        before, self._now = self._now, context
        self._measured.switch_context(context)
        return before

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: "pytest.FixtureDef[object]") -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._switch(_fixture(fixturedef))
        try:
            return (yield)
        finally:
            self._switch(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._switch(item.nodeid)
        begin = sum(os.times()[:4])
        clock = time.monotonic()
        try:
            return (yield)
        finally:
            seconds = sum(os.times()[:4]) - begin
            self._switch("")
            known = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
            fixtures = [_fixture(each) for found in known for each in found if each.scope != "function"]
            with self._tests.open("a") as file:
                row = {"test": item.nodeid, "seconds": seconds, "clock": time.monotonic() - clock, "fixtures": fixtures}
                file.write(json.dumps(row) + "\n")

    def pytest_unconfigure(self) -> None:
        self._measured.stop()
        self._measured.save()


def _fixture(fixture: "pytest.FixtureDef[object]") -> str:
    return f"{fixture.baseid} {fixture.argname}"


def pytest_configure(config: pytest.Config) -> None:
    """Begin to measure."""
    config.pluginmanager.register(_Plugin(Path(os.environ[FOLDER])))
