"""The user-visible interface equals its pins: helps, messages, exit statuses, files, the Python interface."""

from typing import Any

import pytest

from tests.system.outside.collecting import PARTS, kept, seen

_QUICK = ("help", "interface", "refused")

_ADVICE = (
    "If this is meant, write it anew with `--pins`, look through the difference, and say in "
    "docs/changes.md what changes for users, and why."
)


def differences(before: Any, now: Any, name: str) -> list[str]:
    """Return a line for each place in which two parts of a snapshot differ, down to the smallest."""
    if isinstance(before, dict) and isinstance(now, dict):
        lines = [f"{name}{key!r}: is new" for key in now if key not in before]
        lines += [f"{name}{key!r}: is gone" for key in before if key not in now]
        return lines + [
            line for key in before if key in now for line in differences(before[key], now[key], f"{name}{key!r} > ")
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True), 1)
        return [line for place, (old, new) in pairs for line in differences(old, new, f"{name}{place} > ")]
    return [] if before == now else [f"{name.removesuffix(' > ')}:\n  was {before!r}\n  is  {now!r}"]


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=() if part in _QUICK else pytest.mark.long) for part in PARTS]
)
def test_users_see_what_they_saw(part: str, request: pytest.FixtureRequest) -> None:
    keep = request.config.getoption("--pins")
    found = differences(kept(part), seen(part, keep=keep), "")
    assert keep or not found, "\n".join([f"{part}: {len(found)} differences", *found[:40], _ADVICE])


def test_differences_are_named() -> None:
    before = {"scc": {"status": 0, "output": ["a", "b"]}, "bfs": 1}
    now = {"scc": {"status": 0, "output": ["a", "c"]}, "mec": 1}
    assert differences(before, now, "") == [
        "'mec': is new",
        "'bfs': is gone",
        "'scc' > 'output' > 2:\n  was 'b'\n  is  'c'",
    ]
    assert differences(before, before, "") == []
