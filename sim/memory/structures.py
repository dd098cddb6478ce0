"""Records in memory, declared as classes for use in Python and C++.

A record is a class whose annotations are its fields::

    class Ring(Record):
        head: int
        slots: Words

`int` is a 64-bit word, and `Any` is defined by a subclass. A field of a record type is embedded; `Annotated[Words, 32]`
and `Annotated[Rows[Ring], 32]` embed 32 elements, `Annotated[Halves, 32]` as many numbers of 32 bits. Without a number,
`Words`, `Bytes` and `Rows[Ring]` are links: addresses of arrays owned by an `Arena`. In C++ a record is
a struct, and a link a pointer (`cyscc.sim.memory.layout`); in Python it is an element of a structured numpy array.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

LINE_WORDS = 8
"""Words of a cache line."""

Element = TypeVar("Element")
_LINE_BYTES = 8 * LINE_WORDS


Constant = Annotated[int, "constant"]
"""A word that never changes, and keeps its value when a state is loaded."""


class Words:
    """Array of words."""


class Halves:
    """Array of unsigned numbers of 32 bits, embedded, of an even number of elements."""


class Bytes:
    """Read-only array of bytes, always behind a link."""


class Rows(Generic[Element]):
    """Array of records."""


class Record:
    """Base of all records; see `laid_out` for the options of a class."""

    dtype: ClassVar[np.dtype[np.void]]
    """The record's dtype in numpy arrays."""
    members: ClassVar[dict[str, Any]]
    """The annotation of each field."""

    def __init_subclass__(cls, *, lines: bool = False, word: str = "<i8") -> None:
        """Lay out the fields, those of a base class first."""
        hints = get_type_hints(cls, include_extras=True)
        cls.members = {
            name: kind for name, kind in hints.items() if kind is not Any and get_origin(kind) is not ClassVar
        }
        cls.dtype = laid_out(cls.members, lines=lines, word=word)


def laid_out(kinds: dict[str, Any], *, lines: bool = False, word: str = "<i8") -> np.dtype[np.void]:
    """Return the type of a record in numpy arrays.

    Parameters
    ----------
    kinds : dict
        The annotation of each field.
    lines : bool
        Whether its size is a multiple of the cache line. Such records are aligned to cache lines when embedded, to
        avoid false sharing between threads.
    word : str
        Type of words in numpy arrays.
    """
    formats, offsets, place = [], [], 0
    for kind in kinds.values():
        format_ = _format(kind, word)
        if is_embedded(kind) and format_.itemsize % _LINE_BYTES == 0:
            place = _whole_lines(place)
        formats.append(format_)
        offsets.append(place)
        place += format_.itemsize
    size = _whole_lines(place) if lines else place
    return np.dtype({"names": list(kinds), "formats": formats, "offsets": offsets, "itemsize": size})


def _whole_lines(size: int) -> int:
    return -(-size // _LINE_BYTES) * _LINE_BYTES


def is_link(kind: Any) -> bool:
    """Whether a field is the address of an array."""
    return kind in (Words, Bytes) or get_origin(kind) is Rows


def is_embedded(kind: Any) -> bool:
    """Whether a field is a record or an array within its record."""
    return not is_link(kind) and element_of(kind) is not int


def element_of(kind: Any) -> Any:
    """Return the record that a field or its elements are; `int`, or the class of the array, if these are numbers."""
    array = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return get_args(array)[0] if get_origin(array) is Rows else array


def _format(kind: Any, word: str) -> np.dtype[Any]:
    """Return numpy's format of a field."""
    element = element_of(kind)
    if is_link(kind):
        return np.dtype("<i8")
    formats = {int: word, Words: word, Halves: "<u4"}
    format_ = np.dtype(formats.get(element) or element.dtype)
    return format_ if kind in (element, Constant) else np.dtype((format_, (get_args(kind)[1],)))


class Arena:
    """Owner of zeroed arrays of records and words, which are linked to each other."""

    def __init__(self) -> None:
        self._arrays: dict[int, NDArray[Any]] = {}
        self._constants: dict[int, NDArray[np.uint64]] = {}  # words of an element that never change, as masks
        self._links: list[tuple[NDArray[np.void], str]] = []

    @property
    def count(self) -> int:
        """Number of arrays."""
        return len(self._arrays)

    def save(self) -> list[NDArray[np.uint64]]:
        """Return copies of all arrays, in order of creation, with links set to 0."""
        links = [owners[field].copy() for owners, field in self._links]
        for owners, field in self._links:
            owners[field] = 0
        copies = [self._words(array).copy() for array in self._arrays.values()]
        self._link_again(links)
        return copies

    def load(self, copies: Sequence[NDArray[np.uint64]]) -> None:
        """Load copies of all arrays, saved by an arena with the same arrays; links and constants keep their values.

        Raises
        ------
        ValueError
            The arrays differ in number or size.
        """
        if [copy.size for copy in copies] != [self._words(array).size for array in self._arrays.values()]:
            raise ValueError("the memory's records have other sizes")
        links = [owners[field].copy() for owners, field in self._links]
        for (address, array), copy in zip(self._arrays.items(), copies, strict=True):
            words = self._words(array)
            if (constant := self._constants.get(address)) is not None:
                own = words.reshape(-1, constant.size)
                copy = np.where(constant, own, copy.reshape(own.shape)).ravel()
            words[:] = copy
        self._link_again(links)

    @staticmethod
    def _words(array: NDArray[Any]) -> NDArray[np.uint64]:
        """Return an array as words."""
        return array.view(np.uint64)

    def _link_again(self, links: Sequence[NDArray[np.int64]]) -> None:
        for (owners, field), addresses in zip(self._links, links, strict=True):
            owners[field] = addresses

    def set_link(self, owners: NDArray[np.void], field: str, address: int | NDArray[np.int64]) -> None:
        """Set links of records to addresses outside of the arena: one for all, or one each."""
        owners[field] = address
        self._links.append((owners, field))

    def make(self, kind: type[Record] | type[int], count: int) -> NDArray[Any]:
        """Allocate an array of records or words, aligned to cache lines."""
        dtype = np.dtype(np.int64) if kind is int else kind.dtype  # type: ignore[union-attr]
        raw = np.zeros(count * dtype.itemsize // 8 + LINE_WORDS, np.int64)
        skip = -(raw.ctypes.data // 8) % LINE_WORDS
        made: NDArray[Any] = raw[skip : skip + count * dtype.itemsize // 8].view(dtype)
        self._own(made, kind)
        return made

    def _own(self, made: NDArray[Any], kind: type[Record] | type[int]) -> None:
        """Add an array."""
        self._arrays[made.ctypes.data] = made
        if kind is not int:
            constants = np.zeros(1, made.dtype)
            _mark_constants(constants, kind.members)  # type: ignore[union-attr]
            self._constants[made.ctypes.data] = self._words(constants)

    def at(self, address: int) -> NDArray[Any]:
        """Return the array at an address."""
        return self._arrays[int(address)]

    def link(self, owners: NDArray[np.void], field: str, kind: type[Record] | type[int], count: int) -> NDArray[Any]:
        """Allocate an array for a link of each of several records, and set the links.

        Neighbouring arrays are separated by an extra cache line, to avoid conflicts in the cache.

        Parameters
        ----------
        owners : ndarray
            The records, in any shape.
        field : str
            Name of the link.
        kind : type
            A record, or `int` for words.
        count : int
            Elements of each array.

        Returns
        -------
        ndarray
            The arrays, of the shape of `owners` and one more axis.
        """
        size = 8 if kind is int else kind.dtype.itemsize  # type: ignore[union-attr]
        stride = count + -(-8 * LINE_WORDS // size)
        made = self.make(kind, owners.size * stride)
        first: int = made.ctypes.data
        owners[field] = first + size * stride * np.arange(owners.size).reshape(owners.shape)
        self._links.append((owners, field))
        return made.reshape(*owners.shape, stride)[..., :count]

    def link_all(
        self, owners: NDArray[np.void], field: str, kind: type[Record] | type[int], count: int
    ) -> NDArray[Any]:
        """Allocate one array for a link of all records, set the links, and return it."""
        made: NDArray[Any] = self.link(owners[:1], field, kind, count)[0]
        self.set_link(owners[1:], field, made.ctypes.data)
        return made


def _mark_constants(record: NDArray[Any], kinds: dict[str, Any]) -> None:
    """Set all bits of the constants of records, also of embedded ones."""
    for name, kind in kinds.items():
        if kind == Constant or is_link(kind):
            record[name] = -1 if record[name].dtype.kind == "i" else np.uint64(2**64 - 1)
        elif is_embedded(kind):
            _mark_constants(record[name], getattr(element_of(kind), "members", {}))
