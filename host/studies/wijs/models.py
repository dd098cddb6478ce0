"""The models of the tables: families of our own in the place of PRISM's, which cannot be generated here."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from host.measuring.models import ModelSpec

__all__ = ["MODELS", "Chosen", "sizes_text"]


class Chosen(NamedTuple):
    """A model of the table."""

    name: str
    """What the table calls it."""
    family: str
    """Its family, of `host.mdp.families.FAMILIES`."""
    sizes: dict[str, int]
    """Its sizes."""
    quick: dict[str, int]
    """Those of a small one."""
    like: str
    """The paper's models whose shape it has: how many components there are, and how trimming finds them."""

    def spec(self, *, quick: bool, seed: int) -> ModelSpec:
        """Return the model that is measured; `seed` is that of models that are drawn at random."""
        sizes = self.quick if quick else self.sizes
        drawn = {"seed": seed} if self.family in _DRAWN else {}
        return ModelSpec(family=self.family, sizes=tuple((sizes | drawn).items()))


def sizes_text(rows: Iterable[dict[str, Any]]) -> str:
    """Return a line of Markdown for each model of a table: its family, and the sizes of that."""
    return "\n".join(
        f"- {row['model']}: {row['family']}, " + ", ".join(f"{name} {size:,}" for name, size in row["sizes"].items())
        for row in rows
    )


_DRAWN = ("random", "islands")
"""Families that have a seed."""

MODELS = (
    Chosen("phil", "philosophers", {"philosophers": 7, "risky": 0}, {"philosophers": 4, "risky": 0}, "phil, phil_1ss"),
    Chosen(
        "phil-risky",
        "philosophers",
        {"philosophers": 6, "risky": 1},
        {"philosophers": 4, "risky": 1},
        "test-and-set",
    ),
    Chosen("coin", "coin", {"processes": 5, "bound": 3}, {"processes": 3, "bound": 2}, "coin"),
    Chosen("leader", "leader", {"processes": 7, "numbers": 5, "restart": 0}, {"processes": 4, "numbers": 3}, "leader"),
    Chosen("grid", "grid", {"width": 512, "height": 512, "room": 64}, {"width": 48, "height": 48, "room": 8}, ""),
    Chosen("islands", "islands", {"islands": 100_000}, {"islands": 400}, "mutual"),
    Chosen(
        "random", "random", {"states": 1 << 19, "choices": 3, "transitions": 4}, {"states": 1 << 11}, "phil, mutual"
    ),
    Chosen(
        "walk",
        "random",
        {"states": 1 << 18, "choices": 1, "transitions": 1},
        {"states": 1 << 11, "choices": 1, "transitions": 1},
        "wlan, zeroconf, firewire",
    ),
)
"""Sizes are such that on two cores each takes some seconds at most."""
