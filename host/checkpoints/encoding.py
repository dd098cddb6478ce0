"""States as files: a text that people can read, with arrays beside it."""

import json
from collections.abc import Callable
from typing import Any, TypeVar, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from sim.memory import MemoryState
from sim.named_words import Field, NamedWords
from sim.observation.state import MachineState, Tally

__all__ = ["converted", "decode_machine", "encode"]

Kind = TypeVar("Kind")
Files = dict[str, NDArray[np.uint8]]

_TEXT = "state.json"
_ARRAYS = "arrays/{}"


class _Arrays:
    """Arrays that a text refers to."""

    def __init__(self) -> None:
        self.files: Files = {}

    def refer(self, value: Any) -> Any:
        """Return what stands in the text for an array or another number of numpy."""
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a state with a {type(value).__name__} cannot be kept")
        name = _ARRAYS.format(len(self.files))
        content = np.ascontiguousarray(value)
        self.files[name] = content.reshape(-1).view(np.uint8)
        return {"file": name, "dtype": value.dtype.str, "shape": value.shape}


def _fields_text(fields: tuple[Field, ...]) -> bytes:
    # Words of any width: more than the 64 bits that JSON has here.
    return json.dumps([[each.name, each.width, each.rows, f"{each.known:x}"] for each in fields]).encode()


def encode(parts: dict[str, object], machine: MachineState) -> Files:
    """Return the files of a state.

    Parameters
    ----------
    parts : dict
        States of the parts of the host's program by name: dataclasses of plain values.
    machine : MachineState
        The machine.
    """
    arrays = _Arrays()
    simple = {name: value for name, value in vars(machine).items() if name != "hardware"}
    hardware = {
        "fields": np.frombuffer(_fields_text(machine.hardware.fields), np.uint8),
        "words": machine.hardware.words,
    }
    text = msgspec.json.encode({"parts": parts, "machine": simple, "hardware": hardware}, enc_hook=arrays.refer)
    return {_TEXT: np.frombuffer(text, np.uint8), **arrays.files}


def converted(value: Any, kind: type[Kind], load: Callable[[str], NDArray[np.uint8]]) -> Kind:
    """Return what a decoded text says, as a kind; arrays are loaded by their files' names."""

    def array(wanted: Any, reference: Any) -> Any:
        if (get_origin(wanted) or wanted) is not np.ndarray:
            raise NotImplementedError(wanted)
        return load(reference["file"]).view(reference["dtype"]).reshape(reference["shape"])

    return msgspec.convert(value, kind, dec_hook=array, str_keys=True)


def decode_machine(value: Any, hardware: Any, load: Callable[[str], NDArray[np.uint8]]) -> MachineState:
    """Return the machine's state that a decoded text says."""
    words = converted(hardware, dict[str, np.ndarray], load)
    fields = tuple(
        Field(name=name, width=width, rows=rows, known=int(known, 16))
        for name, width, rows, known in json.loads(words["fields"].tobytes())
    )
    typed = {
        "memory": converted(value["memory"], MemoryState, load),
        "attempt": converted(value["attempt"], Tally | None, load),  # type: ignore[arg-type]
    }
    return MachineState(hardware=NamedWords(fields=fields, words=words["words"]), **{**value, **typed})
