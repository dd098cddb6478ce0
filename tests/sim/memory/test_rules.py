"""Files of memory rules that cannot be used: one line names file, function and cause."""

import json
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

REFUSED = json.loads(Path(__file__).with_name("refused_rules.json").read_text(encoding="utf-8"))
"""Refused profiles and their messages: whole files, changes of `PIPE`, and members added to it."""


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
        *REFUSED["files"].items(),
        pytest.param(bytes(LONGEST_SETTING + 1), "is too long: it may have 1,048,576 bytes", id="long"),
    ],
)
def test_file_that_does_not_run(source: str | bytes, message: str) -> None:
    if "null" in message and sys.version_info < (3, 11, 4):
        message = "ValueError: source code string cannot contain null bytes"
    assert refusal(source) == message


@pytest.mark.parametrize(("old", "new", "message"), REFUSED["changes"])
def test_profile_that_is_none(old: str, new: str, message: str) -> None:
    assert refusal(PIPE.replace(old, new, 1)).startswith(message)


@pytest.mark.parametrize(("member", "message"), REFUSED["members"].items())
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
