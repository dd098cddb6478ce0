"""What a machine's native code draws, and where: the table that it needs of the variables of a waveform file."""

import ctypes
from collections.abc import Sequence
from functools import partial

from sim.executors.base import Command
from sim.executors.shared_object import command_table
from sim.observation.waves import Waves
from sim.observation.waves.variables import Variable

__all__ = ["Drawing"]


class _Target(ctypes.Structure):
    """`WaveTarget` of `native/waves.h`."""

    _fields_ = [
        ("source", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("number", ctypes.c_int64),
        ("names", ctypes.c_int64),
    ]


class _Sink(ctypes.Structure):
    """`WaveSink` of `native/waves.h`."""

    _fields_ = [
        ("targets", ctypes.POINTER(_Target)),
        ("count", ctypes.c_int64),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("descriptor", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("writer", "time", "bits", "text", "flush")),
    ]


class Drawing:
    """Lets a machine write the values of a waveform file, which is begun.

    Parameters
    ----------
    library : ctypes.CDLL
        The machine's library.
    machine : ctypes.c_void_p
        The machine, which must not outlive this.
    waves : Waves
        The file.

    Raises
    ------
    ValueError, sim.errors.SimulationError
        As of `Waves.begin`.
    """

    def __init__(self, library: ctypes.CDLL, machine: ctypes.c_void_p, waves: Waves) -> None:
        library.cyscc_wave_head.restype = ctypes.c_char_p
        library.cyscc_wave_head.argtypes = [ctypes.c_void_p]
        library.cyscc_draw.restype = None
        library.cyscc_draw.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        writer, variables = waves.begin(library.cyscc_wave_head(machine).splitlines())
        # Those that share a number always have the same value.
        distinct = list({variable.number: variable for variable in variables}.values())
        self._texts, places = _texts(distinct)
        keys = [writer.key(variable) for variable in distinct]
        self._targets = (_Target * len(distinct))(
            *(
                _Target(source=variable.source, key=key, number=number, names=place)
                for variable, (number, key), place in zip(distinct, keys, places, strict=True)
            )
        )
        native = writer.native
        self._sink = _Sink(
            targets=self._targets,
            count=len(distinct),
            names=self._texts,
            descriptor=native.descriptor,
            **{name: getattr(native, name) or None for name in ("writer", "time", "bits", "text", "flush")},
        )
        library.cyscc_draw(machine, ctypes.byref(self._sink))
        library.cyscc_recall.restype = None
        library.cyscc_recall.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        self._recall = partial(library.cyscc_recall, machine)

    def recall(self, commands: Sequence[Command]) -> None:
        """Show what is no register, after the state was set: the host's last commands, what else is shown follows."""
        table = command_table(commands)
        self._recall(table.ctypes.data, len(table))


def _texts(variables: Sequence[Variable]) -> tuple["ctypes.Array[ctypes.c_char_p]", list[int]]:
    """Return the texts of all values with names, and where those of each variable begin; -1: its bits are shown."""
    texts: list[bytes] = []
    tables: dict[tuple[str, ...], int] = {}
    places = []
    for variable in variables:
        if variable.names is None:
            places.append(-1)
            continue
        table = tuple(variable.texts)
        if table not in tables:
            tables[table] = len(texts)
            texts += [text.encode() for text in table]
        places.append(tables[table])
    return (ctypes.c_char_p * len(texts))(*texts), places
