"""Mutants of a component by itself: a library for each module, which compares a mutant with the sound component."""

import ctypes
import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.sim.caching.tools import Steps, Toolchain
from cyscc.sim.executors.cache import cached_runtime
from tests.alone.parts import all_parts, same_part
from tests.alone.stimuli import Stimuli
from tests.alone.surroundings import stimuli_of
from tests.alone.traces import pins, trace, unpacked
from tests.mutants.design import Design
from tests.mutants.faults import Mutant, write_selectable
from tests.mutants.verdicts import Stage, Verdict

_SOURCE = Path(__file__).parent / "native" / "part.cpp"


def look_alone(design: Design, mutants: Sequence[Mutant], folder: Path) -> Iterator[Verdict]:
    """Yield the verdict on each mutant: whether its component, by itself, answers as is pinned.

    Parameters
    ----------
    design : Design
        What `tests.mutants.faults.prepare` has written to the folder.
    mutants : sequence of Mutant
        The mutants.
    folder : Path
        Where to build.
    """
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        own = [mutant for mutant in mutants if mutant.module == module]
        name = _part_name(design, module)
        differs = _Part(name, module, own, folder).differs if name else None
        if differs is not None:
            assert differs(0) is None, f"{name} without a mutant does not answer as it should"
        for place, mutant in enumerate(own, start=1):
            cycle = None if differs is None else differs(place)
            how = "" if cycle is None else f"cycle {cycle}"
            yield Verdict(mutant.name, mutant.options, Stage.ALONE, name if how else "", how)


def _part_name(design: Design, module: str) -> str:
    """Return how a module's component is called among all parts, or nothing: it is none of them."""
    component = design.components[module]
    return next((name for name, part in _parts().items() if same_part(part, component)), "")


@cache
def _parts() -> dict[str, Any]:
    return all_parts()


class _Part:
    """A component by itself, with some mutants to choose from.

    Parameters
    ----------
    name : str
        How it is called among all parts.
    module : str
        Its module of the design.
    mutants : sequence of Mutant
        The module's mutants.
    folder : Path
        Where to build.
    """

    def __init__(self, name: str, module: str, mutants: Sequence[Mutant], folder: Path) -> None:
        stimuli = stimuli_of(_parts()[name], name)
        found = trace(stimuli)
        assert found.digest == pins()[name], f"{name} does not answer as is pinned"
        self._lengths = np.array(stimuli.LENGTHS, np.int64)
        self._inputs = _bytes(found.inputs, stimuli.inputs)
        self._outputs = _bytes(found.outputs, stimuli.outputs)
        self._masks = _bytes(found.masks, stimuli.outputs)
        self._library = ctypes.CDLL(str(_build(stimuli, module, mutants, folder)))
        self._library.cyscc_differs.restype = ctypes.c_int64

    def differs(self, mutant: int) -> int | None:
        """Return the first cycle in which a mutant, by its place from 1, shows itself; 0 is none of them."""
        arrays = [ctypes.c_void_p(each.ctypes.data) for each in (self._inputs, self._outputs, self._masks)]
        lengths = ctypes.c_void_p(self._lengths.ctypes.data)
        cycle = self._library.cyscc_differs(mutant, ctypes.c_int64(len(self._lengths)), lengths, *arrays)
        return None if cycle < 0 else int(cycle)


def _size(width: int) -> int:
    """Return the bytes by which a Verilated model has a pin."""
    return next((size for size in (1, 2, 4, 8) if width <= 8 * size), 4 * -(-width // 32))


def _bytes(cycles: Sequence[int], widths: Mapping[str, int]) -> npt.NDArray[np.uint8]:
    """Return the pins of all cycles as a Verilated model has them, side by side."""
    text = b"".join(
        value.to_bytes(_size(widths[name]), "little")
        for whole in cycles
        for name, value in unpacked(whole, widths).items()
    )
    return np.frombuffer(text, np.uint8)


def _build(stimuli: Stimuli, module: str, mutants: Sequence[Mutant], folder: Path) -> Path:
    """Return the library of a component with mutants."""
    tools = Toolchain.find(verilator=True)
    place = folder / f"alone-{module}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    top = write_selectable(module, place, mutants)
    (place / "pins.h").write_text(_pins_header(stimuli, f"V{module}"))
    units = tools.verilate([top], top=module, folder=place)
    runtime, flags = cached_runtime(tools)
    # In one piece it takes a fraction of the time.
    whole = place / "whole.cpp"
    whole.write_text("".join(f'#include "{source}"\n' for source in (*units, _SOURCE)))
    compiled = tools.compile_object(whole, folder=place, flags=flags, level="-O1", steps=Steps(None))
    # A library of the same name would not be loaded again.
    key = hashlib.sha256(repr(mutants).encode()).hexdigest()[:16]
    library = place / f"{key}.so"
    tools.link([compiled, runtime], library)
    return library


def _pins_header(stimuli: Stimuli, model: str) -> str:
    """Return the C++ that includes a model and copies its pins."""
    lines = [f'#include "{model}.h"', f"using Model = {model};"]
    for name, widths, way, size in (
        ("give", stimuli.inputs, "const ", "kInputBytes"),
        ("take", stimuli.outputs, "", "kOutputBytes"),
    ):
        offset = 0
        copies = []
        for pin, width in widths.items():
            there = f"bytes + {offset}"
            copies.append(f"    static_assert(sizeof(model.{pin}) == {_size(width)});")
            ends = (f"&model.{pin}", there) if name == "give" else (there, f"&model.{pin}")
            copies.append(f"    std::memcpy({', '.join(ends)}, {_size(width)});")
            offset += _size(width)
        lines += [f"inline void {name}(Model& model, {way}uint8_t* bytes) {{", *copies, "}"]
        lines.append(f"constexpr size_t {size} = {offset};")
    return "\n".join(lines) + "\n"
