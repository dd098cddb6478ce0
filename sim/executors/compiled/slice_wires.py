"""C++ statements that connect the slices of one object to those of another."""

from collections.abc import Iterator

__all__ = ["WORD", "get_word", "number_slices", "put_word", "spread"]

WORD = 64
"""Bits of a word of a port."""


def number_slices(slices: str, kind: str, width: int) -> Iterator[str]:
    """Yield statements that give each slice its number."""
    if width == 1:
        yield f"{slices}.number(Bits(0xaaaaaaaa) & {kind}::kAll);"
    else:
        yield f"for (int n = 0; n < {kind}::kLanes; ++n) {slices}.put_number_0(n, n);"


def spread(
    fields: list[tuple[str, int]], *, count: int, source: tuple[str, str, str], target: tuple[str, str]
) -> Iterator[str]:
    """Yield statements that show every slice of one kind what each slice of the other kind puts out.

    Parameters
    ----------
    fields : list of (str, int)
        Fields beside ``valid``, and their widths.
    count : int
        Slices that put out.
    source : tuple of str
        Object, class and port that puts out.
    target : tuple of str
        Object and port, before the number, that takes in.
    """
    slices, kind, port = source
    others, taken = target
    yield "{"
    yield f"const Bits valid = {slices}.{port}_valid();"
    for name, width in fields:
        for word in range(-(-width // WORD)):
            yield f"alignas(64) uint64_t {name}_{word}[{kind}::kLanes];"
    yield "if (valid) {"
    for name, width in fields:
        for word in range(-(-width // WORD)):
            yield from get_word(slices, kind, f"{port}_{name}", width, f"{name}_{word}", word=word)
    yield "}"
    for n in range(count):
        yield f"{others}.{taken}{n}_valid(valid >> {n} & 1 ? ~Bits(0) : 0);"
        yield f"if (valid >> {n} & 1) {{"
        for name, width in fields:
            for word in range(-(-width // WORD)):
                value = f"{name}_{word}[{n}]"
                if width == 1:
                    yield f"{others}.{taken}{n}_{name}({value} ? ~Bits(0) : 0);"
                else:
                    yield f"{others}.put_{taken}{n}_{name}_{word}({value});"
        yield "}"
    yield "}"


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
