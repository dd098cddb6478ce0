"""Numbers with their nouns and units."""

__all__ = ["counted", "place", "sized"]

_UNITS = ("kB", "MB", "GB", "TB", "PB")


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 edge``, ``2,000 edges``; `many` is the plural where it is not `one` with an s behind."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place(device: str, threads: int) -> str:
    """Return where something runs: ``2 threads`` of the processor, or the name of another device."""
    return counted(threads, "thread") if device == "cpu" else device


def sized(number: int) -> str:
    """Return a number of bytes in the unit that suits it: ``0.5 kB``, ``12.0 MB``, ``3.4 GB``."""
    size, unit = number / 1000, 0
    while size >= 999.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:,.1f} {_UNITS[unit]}"
