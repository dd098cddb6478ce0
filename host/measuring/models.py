"""The Markov decision processes that are measured."""

from dataclasses import asdict, dataclass
from typing import Any

from host.graph.csr import Graph
from host.mdp.families import family
from host.mdp.model import Mdp

__all__ = ["ModelSpec"]


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A Markov decision process, by what makes it.

    Parameters
    ----------
    family : str
        Its family, of `host.mdp.families.FAMILIES`.
    sizes : tuple of pairs
        Names and numbers of its sizes that differ from what they are by default.
    """

    family: str
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.family} ({', '.join(f'{name} = {number}' for name, number in self.sizes)})"

    def identity(self) -> dict[str, Any]:
        """Return all that the model depends on, JSON-able."""
        return asdict(self)

    def model(self) -> Mdp:
        """Return the model.

        Raises
        ------
        InputError
            There is none of this family or size.
        """
        sizes: dict[str, Any] = dict(self.sizes)
        return family(self.family, **sizes)

    def generate(self) -> Graph:
        """Return the graph that the model induces; errors are those of `model`."""
        return self.model().graph()
