"""`make sanitize` itself: it reports skipped parts, and fails if planted faults are not detected."""

import pytest

from tests.sanitizers.__main__ import PARTS, main
from tests.sanitizers.planted import FAULTS


def test_every_fault_is_planted_in_one_part() -> None:
    assert sorted(fault for part in PARTS for fault in part.faults) == sorted(FAULTS)


@pytest.mark.parametrize("part", ["addresses", "threads"])
def test_missing_compiler_skips_a_part(
    part: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", ["sanitizers", part])
    assert main() == 0
    assert "skipped: g++ is not there" in capsys.readouterr().out


@pytest.mark.long
def test_fault_that_is_not_found_fails_the_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = next(part for part in PARTS if part.name == "bounds")
    # Without the setting that watches, and with no tests but these few.
    tests = ("tests/sanitizers/test_sanitizers.py", "-k", "one_part")
    blind = part.__class__(name="bounds", faults=part.faults, tests=tests)
    monkeypatch.setattr("tests.sanitizers.__main__.PARTS", (blind,))
    monkeypatch.setattr("sys.argv", ["sanitizers"])
    assert main() == 1
    assert "NOT FOUND" in capsys.readouterr().out
