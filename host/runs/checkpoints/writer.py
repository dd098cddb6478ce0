"""Checkpoints of a run: its state as a human-readable text, with arrays in files beside it."""

import json
import math
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass, make_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyscc.host.driver.search import Checkpointer
from cyscc.host.output.errors import reason, refusing
from cyscc.host.runs.checkpoints.folder import About, Checkpoint, CheckpointFolder
from cyscc.host.specification.run import Interval
from cyscc.sim.named_words import Field, NamedWords
from cyscc.sim.notices import notice
from cyscc.sim.observation.state import MachineState

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

State = TypeVar("State")

_ANY = 1 << 62
_NEVER = Interval()
_TEXT = "state.json"
_ARRAYS = "arrays/{}"
_WORDS = range(-(1 << 63), 1 << 64)
"""Range of the numbers of a state, as signed and as unsigned words."""


class _Arrays:
    """Arrays stored beside a text that refers to them."""

    def __init__(self) -> None:
        self.files: dict[str, NDArray[np.uint8]] = {}

    def refer(self, value: Any) -> Any:
        """Return the JSON value of a numpy scalar, or a reference to an array, which is stored."""
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a state with a {type(value).__name__} cannot be kept")
        name = _ARRAYS.format(len(self.files))
        content = np.ascontiguousarray(value)
        self.files[name] = content.reshape(-1).view(np.uint8)
        return {"file": name, "dtype": value.dtype.str, "shape": value.shape}


def _encode(parts: dict[str, object], machine: MachineState) -> dict[str, NDArray[np.uint8]]:
    """Encode a state as files.

    Parameters
    ----------
    parts : dict
        States of the parts of the host program by name: dataclasses of plain values.
    machine : MachineState
        State of the machine.
    """
    arrays = _Arrays()
    fields = [[each.name, each.width, each.rows, f"{each.known:x}"] for each in machine.hardware.fields]
    text = json.dumps(fields).encode()
    hardware = _Hardware(fields=np.frombuffer(text, np.uint8), words=machine.hardware.words)
    simple = {name: value for name, value in vars(machine).items() if name != "hardware"}
    state = {"parts": parts, "machine": {**simple, "hardware": hardware}}
    text = msgspec.json.encode(state, enc_hook=arrays.refer)
    return {_TEXT: np.frombuffer(text, np.uint8), **arrays.files}


class _Reference(msgspec.Struct, forbid_unknown_fields=True):
    """An array in a file of its own."""

    file: str
    dtype: str
    shape: list[int]


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    """The text of a state: parts of the host program, and the machine."""

    parts: dict[str, Any]
    machine: dict[str, Any]


@dataclass
class _Hardware:
    fields: NDArray[np.uint8]
    words: NDArray[np.uint64]


_Machine = make_dataclass("_Machine", [*{**get_type_hints(MachineState), "hardware": _Hardware}.items()])
"""`MachineState`, with the registers as they are kept."""


def _number(digits: str) -> int:
    value = int(digits)
    if value not in _WORDS:
        raise ValueError(f"a number of {len(digits)} digits")
    return value


def _converted(value: Any, kind: type[State], load: Callable[[str], NDArray[np.uint8]]) -> State:
    """Convert a decoded JSON value to type `kind`; `load` reads an array's file by name.

    Raises
    ------
    ValueError
        It is of another type.
    """

    def array(wanted: Any, value: Any) -> Any:
        if get_origin(wanted) is not np.ndarray:
            raise NotImplementedError(wanted)
        reference = msgspec.convert(value, _Reference)
        dtype = np.dtype(get_args(get_args(wanted)[1])[0])
        if reference.dtype != dtype.str:
            raise ValueError(f"an array of {reference.dtype!r} instead of {dtype.str!r}")
        content = load(reference.file)
        if min(reference.shape, default=0) < 0 or math.prod(reference.shape) * dtype.itemsize != content.size:
            raise ValueError(f"an array of shape {reference.shape} with {content.size} bytes")
        return content.view(dtype).reshape(reference.shape)

    state = msgspec.convert(value, kind, dec_hook=array, str_keys=True)
    # A default stands for the beginning of a run; in the middle of one, it would be a wrong guess.
    if not _has_fields(value, state):
        raise ValueError("a state with other fields")
    return state


def _has_fields(stored: Any, state: Any) -> bool:
    """Return whether a stored value has the fields of the state that was made of it, and no others."""
    if is_dataclass(state):
        names = [each.name for each in fields(state)]
        return stored.keys() == set(names) and all(_has_fields(stored[name], getattr(state, name)) for name in names)
    return not isinstance(state, list | tuple) or all(map(_has_fields, stored, state))


def _refusing(checkpoint: Checkpoint) -> AbstractContextManager[None]:
    """Refuse a checkpoint whose contents do not fit together or to the machine, although its digests are right."""
    kinds = ValueError, KeyError, RecursionError
    return refusing(*kinds, before="is no checkpoint of this run: ", path=checkpoint.path)


def _decode_machine(text: _Text, load: Callable[[str], NDArray[np.uint8]]) -> MachineState:
    """Convert decoded JSON to the machine's state.

    Raises
    ------
    ValueError
        It is no state of a machine.
    """
    found: Any = _converted(text.machine, _Machine, load)
    fields = msgspec.json.decode(found.hardware.fields.tobytes(), type=list[tuple[str, int, int, str]])
    words = NamedWords(
        fields=tuple(
            Field(name=name, width=width, rows=rows, known=int(known, 16)) for name, width, rows, known in fields
        ),
        words=found.hardware.words,
    )
    words.check()
    return MachineState(**{**vars(found), "hardware": words})


def _ignore(cycle: int) -> None:
    """Do nothing."""


class CheckpointWriter(Checkpointer):
    """Writes checkpoints of a run to a folder, at intervals.

    Parameters
    ----------
    machine : Machine
        The machine.
    folder : CheckpointFolder, optional
        Where to write them; without it, none are written.
    without : collection of int
        Addresses of allocations to leave out, because a resumed run writes them again by itself.
    every : Interval
        Interval between checkpoints. If one cannot be written, the run goes on, and the previous one stays.
    about : callable, optional
        Returns the metadata of a checkpoint, given its cycle. Needed to write any.
    on_written : callable, optional
        Called with the cycle after a checkpoint was written.
    on_resumed : callable, optional
        Called with the cycle after the state was restored.
    resumed : Checkpoint, optional
        The checkpoint to resume from.
    """

    def __init__(
        self,
        machine: "Machine",
        folder: CheckpointFolder | None = None,
        *,
        without: Collection[int],
        every: Interval = _NEVER,
        about: Callable[[int], About] | None = None,
        on_written: Callable[[int], None] = _ignore,
        on_resumed: Callable[[int], None] = _ignore,
        resumed: Checkpoint | None = None,
    ) -> None:
        super().__init__()
        self._machine = machine
        self._folder = folder
        self._every = every
        self._about = about
        self._without = set(without)
        self._on_written = on_written
        self._on_resumed = on_resumed
        self._refresh: list[Callable[[], None]] = []
        self._resumed: tuple[Checkpoint, _Text] | None = None
        if resumed is not None:
            with _refusing(resumed):
                text = json.loads(resumed.file(_TEXT).tobytes(), parse_int=_number)
                self._resumed = resumed, msgspec.convert(text, _Text)
        self._next_cycle = _ANY
        self._next_second = float(_ANY)
        if folder is not None:
            machine.on_sync = self._on_sync

    def restored(self, name: str, kind: type[State], check: Callable[[State], None]) -> State | None:
        """Return the saved state of a part of the run, as type `kind`; None if the run is not resumed."""
        if self._resumed is None:
            return None
        checkpoint, text = self._resumed
        with _refusing(checkpoint):
            state = _converted(text.parts.get(name), kind, checkpoint.file)
            check(state)
        return state

    def register(self, name: str, state: object, *, refresh: Callable[[], None] | None = None) -> None:
        """Register the state of a part of the run; `refresh`, if given, updates it before each checkpoint."""
        super().register(name, state)
        if refresh is not None:
            self._refresh.append(refresh)
        self._wait()

    def resume(self) -> None:
        """Restore the machine's state from the checkpoint.

        Raises
        ------
        InputError
            It does not fit the machine.
        """
        assert self._resumed is not None
        checkpoint, text = self._resumed
        with _refusing(checkpoint):
            self._machine.load(_decode_machine(text, checkpoint.file))
        self._resumed = None
        self._wait()
        self._on_resumed(self._machine.cycle)

    def _wait(self) -> None:
        """Start a new interval."""
        self._next_cycle = self._machine.cycle + (self._every.cycles or _ANY)
        self._next_second = time.monotonic() + (self._every.seconds or _ANY)

    def _on_sync(self, cycle: int) -> int:
        """Write a checkpoint if one is due; return the cycles until the next call at the latest."""
        if cycle >= self._next_cycle or time.monotonic() >= self._next_second:
            self._write(cycle)
            self._wait()
        return self._next_cycle - cycle

    def _write(self, cycle: int) -> None:
        assert self._folder is not None
        assert self._about is not None
        try:
            for refresh in self._refresh:
                refresh()
            files = _encode(self.parts, self._machine.save(without=self._without))
            self._folder.write(self._about(cycle), files)
        except OSError as error:
            notice(f"{self._folder.path}: {reason(error)}: no checkpoint at cycle {cycle:,}; the run goes on")
            return
        self._on_written(cycle)
