"""Each component answers its stimuli as is pinned."""

import ast
from collections.abc import Iterator

import pytest

from tests.alone.parts import all_parts, file_of
from tests.alone.surroundings import stimuli_of
from tests.alone.traces import trace
from tests.conftest import ROOT, Pins

PARTS = all_parts()

_APART = ("accelerator", "verilog", "axi/", "convey/")
"""The whole machine, which runs look at, how it is exported, and what vendors' boards need besides."""


def described() -> Iterator[str]:
    """Yield the files of the hardware that describe a component."""
    folder = ROOT / "hw"
    for path in sorted(folder.rglob("*.py")):
        classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
        functions = [node.name for each in classes for node in each.body if isinstance(node, ast.FunctionDef)]
        if "elaborate" in functions:
            yield path.relative_to(folder).with_suffix("").as_posix()


def test_every_component_of_the_hardware_is_a_part() -> None:
    wanted = {file for file in described() if not file.startswith(_APART)}
    assert wanted == {file_of(part) for part in PARTS.values()}


@pytest.mark.parametrize("name", PARTS)
def test_a_component_answers_as_is_pinned(name: str, pins: Pins) -> None:
    pins.check(name, trace(stimuli_of(PARTS[name], name)).digest)


def test_every_pin_is_of_a_component(pins: Pins) -> None:
    pins.check_names(PARTS)
