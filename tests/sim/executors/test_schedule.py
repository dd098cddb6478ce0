"""The order of statements."""

import random

import pytest

from cyscc.sim.executors.compiled.lanes.schedule import NAME, scheduled


def _statements(seed: int, count: int = 200) -> list[str]:
    """Return statements that load members, combine values, and set members, in the order of a careless writer."""
    random_ = random.Random(seed)
    lines = [f"const Word v_r{number}_0 = load(r{number}_0);" for number in range(count // 4)]
    values = [f"v_r{number}_0" for number in range(count // 4)]
    for number in range(count):
        operands = random_.sample(values, random_.randint(1, 3))
        lines.append(f"const Word v_c{number}_0 = {' | '.join(operands)};")
        values.append(f"v_c{number}_0")
    for number in range(count // 4):
        lines.append(f"const Word n_r{number}_0 = {random_.choice(values)};")
        lines.append(f"update(r{number}_0, {random_.choice(values)}, n_r{number}_0, v_r{number}_0);")
    return lines


def _most_alive(lines: list[str]) -> int:
    """Return how many values wait for a use at once."""
    last = {name: place for place, line in enumerate(lines) for name in NAME.findall(line)}
    alive: set[str] = set()
    most = 0
    for place, line in enumerate(lines):
        alive = {name for name in alive | set(NAME.findall(line)) if last[name] > place}
        most = max(most, len(alive))
    return most


@pytest.mark.parametrize("seed", range(10))
def test_order_is_right(seed: int) -> None:
    """All statements are there, values are defined before they are used, and members are set after they are loaded."""
    before = _statements(seed)
    lines = scheduled(before)
    assert sorted(lines) == sorted(before)
    defined: set[str] = set()
    members: set[str] = set()
    for line in lines:
        names = NAME.findall(line)
        if line.startswith("const"):
            defined.add(names.pop(0))
            assert "load(" not in line or line.split("load(")[1].split(")")[0] not in members
        else:
            members.add(line.split("(")[1].split(",")[0])
        assert defined.issuperset(names)


@pytest.mark.parametrize("seed", range(10))
def test_few_values_are_alive(seed: int) -> None:
    """Fewer values are alive at once than in the order given."""
    given = _statements(seed)
    assert _most_alive(scheduled(given)) < 0.8 * _most_alive(given)


def test_loads_wait_for_their_use() -> None:
    """A value that is needed late is loaded late."""
    given = [f"const Word v_r{number}_0 = load(r{number}_0);" for number in range(3)]
    given += [f"store(r{number}_0, v_r{number}_0);" for number in range(3)]
    assert scheduled(given) == [line for pair in zip(given[:3], given[3:], strict=True) for line in pair]
