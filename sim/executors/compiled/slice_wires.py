"""C++ statements that connect the slices of one object to those of another."""

from collections.abc import Iterator

WORD = 64
"""Bits of a word of a port."""


def number_slices(slices: str, kind: str, width: int) -> Iterator[str]:
    """Yield statements that give each slice its number."""
    if width == 1:
        yield f"{slices}.number(Bits(0xaaaaaaaa) & {kind}::kAll);"
    else:
        yield f"for (int n = 0; n < {kind}::kLanes; ++n) {slices}.put_number_0(n, n);"


def get_bits(source: tuple[str, str, str], width: int, array: str) -> Iterator[str]:
    """Yield statements that bring the numbers that slices put out into an array of masks; ``any`` says if one is not 0.

    A slice's number has a bit for each slice of the other kind. So it is the mask of those to which it speaks.

    Parameters
    ----------
    source : tuple of str
        Object, class and port that puts out.
    width : int
        Slices of the other kind.
    array : str
        Where to put the masks.
    """
    slices, kind, name = source
    yield f"uint64_t values[{kind}::kLanes];"
    yield from get_word(slices, kind, name, width, "values")
    yield f"const auto masks = as<{kind}::Word>(load(values));"
    yield f"store({array}, masks);"
    yield f"const bool any = among<{kind}::kLanes>(test(masks, {kind}::Word(~0u))) != 0;"


def put_room(array: str, target: tuple[str, str, str], width: int) -> Iterator[str]:
    """Yield statements that bring masks to slices, each of which takes one as a number.

    Parameters
    ----------
    array : str
        The masks, one for each slice.
    target : tuple of str
        Object, class and port that takes in.
    width : int
        Bits of a number.
    """
    slices, kind, name = target
    yield f"uint64_t values[{kind}::kLanes];"
    # Stored as they are loaded next: a processor waits for numbers that come together from several stores.
    yield f"store(values, as<{kind}::Long>(load({array})));"
    yield put_word(slices, name, width)


def get_word(slices: str, kind: str, name: str, width: int, array: str, *, word: int = 0) -> Iterator[str]:
    """Yield statements that bring a word of an output of all slices into an array."""
    if width == 1:
        yield f"for (int n = 0; n < {kind}::kLanes; ++n) {array}[n] = {slices}.{name}() >> n & 1;"
    else:
        yield f"{slices}.get_{name}_{word}({array});"


def put_word(slices: str, name: str, width: int, *, word: int = 0) -> str:
    """Return the statement that brings ``values`` to a word of an input of all slices."""
    if width == 1:
        gathered = "Bits bits = 0; int n = 0; for (uint64_t value : values) bits |= Bits(value & 1) << n++;"
        return f"{gathered} {slices}.{name}(bits);"
    return f"{slices}.put_{name}_{word}(values);"
