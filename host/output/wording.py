"""Numbers with their nouns and units."""

__all__ = ["counted", "place", "sized"]

_UNITS = ("kB", "MB", "GB", "TB", "PB")


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, as in ``1 edge`` or ``2,000 edges``; `many` is an irregular plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place(device: str, threads: int) -> str:
    """Return the place of execution: ``2 threads`` on the processor, or the name of another device."""
    return counted(threads, "thread") if device == "cpu" else device


def sized(number: int) -> str:
    """Return a number of bytes in a suitable unit: ``0.5 kB``, ``12.0 MB``, ``3.4 GB``."""
    size, unit = number / 1000, 0
    while size >= 999.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:,.1f} {_UNITS[unit]}"
