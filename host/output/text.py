"""Words of all commands: numbers with their nouns and units."""

from cyscc.sim.notices import printable

_PLURALS = {"vertex": "vertices", "entry": "entries"}
_UNITS = ("kB", "MB", "GB", "TB", "PB")


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun, as in ``1 edge`` or ``2,000 edges``."""
    singular, plural = next((each for each in _PLURALS.items() if noun.endswith(each[0])), ("", "s"))
    return f"{number:,} {noun if number == 1 else noun.removesuffix(singular) + plural}"


_WHOLE = 100
"""Milliseconds from which on a label has no decimals."""


def milliseconds_text(milliseconds: float) -> str:
    """Return a time with three significant digits, or an integer from 100 milliseconds on."""
    return f"{milliseconds:,.0f}" if milliseconds >= _WHOLE else f"{milliseconds:.3g}"


def device_text(device: str, threads: int) -> str:
    """Return the place of execution: ``2 threads`` on the processor, or the name of another device."""
    return count_text(threads, "thread") if device == "cpu" else device


def bytes_text(number: int) -> str:
    """Return a number of bytes in a suitable unit: ``0.5 kB``, ``12.0 MB``, ``3.4 GB``."""
    size, unit = number / 1000, 0
    while size >= 999.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:,.1f} {_UNITS[unit]}"


def graph_text(name: str, vertices: int, edges: int) -> str:
    """Return a graph's name and size."""
    return f"{printable(name)}: {count_text(vertices, 'vertex')}, {count_text(edges, 'edge')}"


def model_text(name: str, states: int, choices: int, transitions: int) -> str:
    """Return the name and the size of a Markov decision process."""
    sizes = count_text(states, "state"), count_text(choices, "choice"), count_text(transitions, "transition")
    return f"{printable(name)}: {', '.join(sizes)}"


def largest_text(components: int, largest: int) -> str:
    """Return the number of components and the size of the largest."""
    return f"{components:,}, the largest of {count_text(largest, 'vertex')}"
