"""Changes of sources are small, of code alone, and picked as the seed says."""

import ast
from pathlib import Path

from tests.conftest import ROOT
from tests.mutants.changes import list_changes
from tests.mutants.trials import Trial, pick, summary

SOURCE = '''"""A module: 1 + 1."""

__all__ = ["f"]


@cache(size=8)
def f(a: "1 + 2", *rest, b: int = 3) -> list[4]:
    """Return 5."""
    if a < b and not rest:
        raise ValueError(f"{a + b} is 6")
    total = a * (
        b  # + 7
    )
    total += len(rest)
    g(a, b, "text")
    return min(x for x in (total, a) if x not in rest)
'''

CHANGES = """\
f.py:7: 3 -> 4
f.py:9: a < b and not rest -> True
f.py:9: a < b and not rest -> False
f.py:9: and -> or
f.py:9: < -> <=
f.py:9: not rest -> rest
f.py:10: raise ValueError(f"{a + b} is 6") -> pass
f.py:11: * -> //
f.py:14: total += len(rest) -> pass
f.py:15: g(a, b, "text") -> pass
f.py:15: a, b -> b, a
f.py:16: min(x for x in (total, a) if x not in rest) -> None
f.py:16: min -> max
f.py:16: x not in rest -> True
f.py:16: not in -> in
"""


def test_changes_of_a_source(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(SOURCE)
    changes = list_changes(tmp_path, ["f.py"])
    assert [change.name for change in changes] == CHANGES.splitlines()
    changed = {change.name: change.applied(SOURCE.encode()).decode() for change in changes}
    assert changed["f.py:9: < -> <="] == SOURCE.replace("a < b", "a <= b")
    assert changed["f.py:11: * -> //"] == SOURCE.replace("a * (", "a // (")


def test_every_change_of_a_real_source_is_python() -> None:
    changes = list_changes(ROOT, ["host/graph/csr.py", "sim/memory/crossbar.py"])
    sources = {change.file: (ROOT / change.file).read_bytes() for change in changes}
    assert len(changes) > 100
    for change in changes:
        assert change.applied(sources[change.file]) != sources[change.file]
        ast.parse(change.applied(sources[change.file]), change.name)


def test_the_seed_says_which() -> None:
    picked = [pick(["host/graph"], seed=seed, count=20) for seed in (1, 1, 2)]
    assert picked[0] == picked[1] != picked[2]
    assert len(set(picked[0])) == 20


def test_what_is_missed_is_listed() -> None:
    trials = [Trial("a", "found"), Trial("b", "missed", tests=3), Trial("c", "endless"), Trial("d", "not run")]
    assert summary(trials) == "missed (3 tests): b\nnot run (0 tests): d\n2 of 4 found"
