"""Files of memory rules that cannot be used: one line names file, function and cause."""

import sys
from pathlib import Path

import pytest

from cyscc.sim.documents import LONGEST_SETTING
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory import Profile, parse_profile
from cyscc.sim.trust import GivenText
from tests.sim.memory.stepper import machine

IMPORTS = """
from dataclasses import dataclass
from typing import Any, ClassVar

from cyscc.sim.memory.profiles.profile import Contention, Profile, parameter, rule
"""
PIPE = f"""{IMPORTS}
@dataclass(frozen=True, kw_only=True)
class OnePipe(Profile):
    name: ClassVar[str] = "pipe"
    shared: ClassVar[dict[str, int]] = {{"free": 1}}

    length: int = parameter(40, low=1, high=1000)

    unloaded_latency = property(lambda self: self.length)
    flush_latency = property(lambda self: self.length)
    reads_in_flight_limit = property(lambda self: 4096)

    @rule
    def serve(self, shared: Any, entered: int, is_read: int) -> int:
        return entered + (self.length if is_read == 1 else 1)

    @rule
    def flushed(self, now: int) -> int:
        return now + self.length
"""


PAGE = "see docs/adding-a-memory-profile.md"
INT = "length must be an int made by parameter()"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(source: str | bytes, text: str = "pipe.py") -> Profile:
    """Return the profile of a file of rules."""
    Path("pipe.py").write_bytes(source if isinstance(source, bytes) else source.encode())
    return parse_profile(GivenText(text))


def refusal(source: str | bytes) -> str:
    """Return the line by which a file of rules is refused."""
    with pytest.raises(ValueError, match=r"^pipe\.py: ") as caught:
        loaded(source)
    return str(caught.value).removeprefix("pipe.py: ")


def added(text: str) -> str:
    """Return rules with another member."""
    return f"{PIPE}\n    {text}\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "must define one profile, not 0"),
        ("1 +", "SyntaxError: invalid syntax (pipe.py, line 1)"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("class Odd(BaseException): pass\nraise Odd('a\\nb')", "Odd: a"),
        ("class Odd(Exception):\n    def __str__(self): raise self\nraise Odd", "Odd"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("raise MemoryError", "MemoryError"),
        ("x = 1\0", "SyntaxError: source code string cannot contain null bytes"),
        pytest.param(bytes(LONGEST_SETTING + 1), "is too long: it may have 1,048,576 bytes", id="long"),
    ],
)
def test_file_that_does_not_run(source: str | bytes, message: str) -> None:
    if "null" in message and sys.version_info < (3, 11, 4):
        message = "ValueError: source code string cannot contain null bytes"
    assert refusal(source) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"pipe"', '"hc2"', "name: 'hc2' is that of a profile of the program"),
        ('"pipe"', "3", "name must be a word, not 3"),
        ("parameter(40", "parameter(0", "length: the default must be from 1 to 1000, not 0"),
        ("high=1000", "high=2**63", f"length: there are no integers from 1 to {2**63} of 64 bits"),
        ("length: int = parameter(40, low=1, high=1000)", "length: int = 4", INT),
        ("length: int", "length: float", INT),
        ("@dataclass(frozen", "@(lambda **_: lambda each: each)(frozen", "OnePipe is no dataclass: it needs "),
        ('{"free": 1}', "3", "shared must be a dict of numbers of words by name, not 3"),
        ('{"free": 1}', '{"free": 0}', "shared: free must have from 1 to 65536 words, not 0"),
        ('{"free": 1}', '{"a b": 1}', "shared: 'a b' can be no name of words"),
        ("self: 4096", "self: 4096.0", "reads_in_flight_limit: must be an integer from 1 to 131072, not 4096.0"),
        ("self: 4096", "self: 2**40", "reads_in_flight_limit: must be an integer from 1 to 131072, not 1099511627776"),
        ("self: 4096", "self: exit(0)", "reads_in_flight_limit: SystemExit: 0"),
        ("lambda self: self.length", "lambda self: 0", "unloaded_latency: must be an integer from 1 to 1000000, not 0"),
        ("def flushed", "def fluhsed", "flushed: is missing: every profile needs this rule"),
        (
            "flushed(self, now: int) -> int",
            "flushed(self, when: int) -> int",
            f"flushed: may have the parameters self, now, inherited, {PAGE}: it has (self, when: int) -> int",
        ),
        ("def serve", "def serving", "serving: there is no such rule"),
        ("    @rule\n    def flushed", "    def flushed", "flushed: is not marked as a @rule"),
        ("self.length if", "1.5 if", "serve: must answer an integer, not float64"),
        (
            "return entered +",
            "return None if entered > 9 else",
            "serve: must answer an integer, not OptionalType(int64)",
        ),
        ("self.length if", "open(3) if", "serve: cannot be compiled: Untyped global name 'open': "),
        (
            "        return entered",
            "        assert now\n        return entered",
            "serve: has raise or assert",
        ),
    ],
)
def test_profile_that_is_none(old: str, new: str, message: str) -> None:
    assert refusal(PIPE.replace(old, new, 1)).startswith(message)


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("quantum = property(lambda self: 41)", "quantum: must be an integer from 1 to 40, not 41"),
        ("contention = property(lambda self: 3)", "contention: must be a Contention or None, not 3"),
        ("def __post_init__(self): raise SystemExit(0)", "__post_init__: SystemExit: 0"),
        ("def describe(self): return {}", "describe: no file of rules can define it"),
        ('short: ClassVar[str] = "width"', "short: there is no parameter 'width'"),
        (
            "Own = Profile.Own",
            f"Own: a file names words of state: own = {{'turns': 1}}, {PAGE}",
        ),
        ('header = "../x.h"', "header must be the name of a file beside it that ends in .h, not '../x.h'"),
        ('header = "x.h"', "header: there is no x.h beside it"),
        ("@rule\n    def stalled(self, cycle): return 0.5, 1", "stalled: must answer two masks, integers, not "),
    ],
)
def test_member_that_is_wrong(member: str, message: str) -> None:
    assert refusal(added(member)).startswith(message)


OLD = """
class Pipe(Record):
    free: int
"""


def test_file_of_an_older_version_is_told_the_page() -> None:
    old = PIPE.replace("@dataclass", f"from cyscc.sim.memory.structures import Record, Words\n{OLD}\n@dataclass", 1)
    old = old.replace('shared: ClassVar[dict[str, int]] = {"free": 1}', "Shared: ClassVar[type[Record]] = Pipe")
    assert refusal(old) == f"Shared: a file names words of state: shared = {{'turns': 1}}, {PAGE}"
    old = old.replace("Record, Words", "Record, intrinsic")
    assert refusal(old).startswith("ImportError: cannot import name 'intrinsic' from 'cyscc.sim.memory.structures' ")
    assert refusal(old).endswith(f", {PAGE}")
    assert refusal(f"from cyscc.sim.memory.addresses import store\n{old}") == (
        f"ImportError: No module named 'cyscc.sim.memory.addresses', {PAGE}"
    )


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("def build(self, state, *, ports): return 3", "build: must return nothing, not 3"),
        ("def build(self, state, *, ports): {}[3]", "build: KeyError: 3"),
    ],
)
def test_build_that_fails(member: str, message: str) -> None:
    with pytest.raises(SimulationError) as caught:
        machine(loaded(added(member)))
    assert str(caught.value) == f"pipe.py: {message}"


def test_rules_are_loaded_only_for_the_user() -> None:
    Path("pipe.py").write_text("raise SystemExit(0)")
    with pytest.raises(ValueError, match=r"^pipe\.py has rules, which are code: name their file: --memory FILE\.py$"):
        parse_profile("pipe.py")
