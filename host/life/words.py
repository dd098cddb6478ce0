"""How a life is named and told in one line, in Kanata text and in tables alike."""

from host.words import counted
from sim.hardware import DEGREE
from sim.observation.life import Fate, Life, Span

__all__ = ["ending", "place", "told", "waits"]


def place(life: Life) -> str:
    """Return what the item of a life is: its place in a queue, or the list that it is in."""
    if not life.neighbour:
        return f"{life.queue}[{life.index}]"
    if life.parent is None:
        return f"C[{life.index}]"
    return f"queue[{life.parent.index}] > C[{life.index}]"


def ending(life: Life) -> str:
    """Return how a life ended."""
    if life.fate is Fate.PUSHED:
        return f"pushed{' again' if life.again else ''} to slot {life.slot}"
    if life.fate is Fate.EXPANDED and life.word is not None:
        return f"expanded, {counted(int(DEGREE.get(life.word)), 'neighbour')}"
    return life.fate.value


def waits(spans: list[Span]) -> str:
    """Return how long was waited in some stages, by reason, the longest first."""
    total: dict[str, int] = {}
    for span in spans:
        for wait, cycles in span.waits:
            total[wait.value] = total.get(wait.value, 0) + cycles
    return ", ".join(f"{reason} {cycles}" for reason, cycles in sorted(total.items(), key=lambda each: -each[1]))


def told(life: Life) -> str:
    """Return a life in one line: its kernel, what it is, its vertex, how it ended."""
    vertex = "" if life.vertex is None else f" vertex {life.vertex}"
    return f"{life.kernel} {place(life)}{vertex}: {ending(life)}"
