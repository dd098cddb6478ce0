"""Random vertices for Partition, by the generator of section 3.5."""

from typing import Any

from host.devices import device_function, step

__all__ = ["elect_drawn", "following", "source_count"]

_FACTOR = 1664525
_ADDEND = 1013904223
_STATE = (1 << 32) - 1


def source_count(vertices: int, edges: int) -> int:
    """Return how many vertices Partition draws by default, k = min(n / 10, n / d**2) of the average degree d (3.4).

    At least one: where the text's k is below, Partition would do nothing.
    """
    least = vertices // 10
    return max(1, min(least, vertices**3 // edges**2) if edges else least)


@device_function
def following(number: int) -> int:
    """Return the number that follows one of 32 bits.

    The text takes it modulo n. Where n shares factors with 1664525 = 5 * 5 * 139 * 479, that is no permutation, and all
    threads soon draw the same few vertices. So numbers keep 32 bits, and are reduced where they name a vertex.
    """
    return (_FACTOR * number + _ADDEND) & _STATE


@step
def elect_drawn(thread: int, numbers: Any, vertices: int, labels: Any, elected: Any) -> None:
    """Draw a vertex; if it has no component yet, let it stand for its subgraph.

    Of several vertices that write, any may be the last one: each is as good to number the subgraph by.
    """
    number = following(numbers[thread])
    numbers[thread] = number
    vertex = number % vertices
    name = labels[vertex]
    if name >= 0:
        elected[name] = vertex
