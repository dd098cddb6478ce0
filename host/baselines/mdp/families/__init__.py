"""Families of Markov decision processes of any size: their names, sizes and bounds.

Help only needs these. The generators are slow to import, and are imported with the first model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.host.graph.kinds import Kind, read_kinds
from cyscc.host.output.errors import InputError

if TYPE_CHECKING:
    from cyscc.host.baselines.mdp.model import Mdp
    from cyscc.host.output.progress import OnProgress

_STATE, _TRANSITION = 12, 8
"""Most bytes for a state and a transition while a model is generated."""


@dataclass(frozen=True, kw_only=True)
class Family(Kind):
    """A family of Markov decision processes, made by the function of its name in `generators`; sizes have defaults.

    Parameters
    ----------
    bound : callable
        Returns, for given sizes, approximate upper bounds of the number of states, and of transitions of a state.
    """

    bound: Callable[..., tuple[int, int]]

    @property
    def defaults(self) -> dict[str, int]:
        """Default sizes."""
        return {name: size.default for name, size in self.sizes.items() if size.default is not None}


_BOUNDS: dict[str, Callable[..., tuple[int, int]]] = {
    # Forks exclude about half of the product states for each further philosopher.
    "philosophers": lambda philosophers, risky: ((7 + risky) ** philosophers, philosophers),
    "coin": lambda processes, bound: ((2 * (bound + 1) * processes + 1) * 6**processes, processes),
    "leader": lambda processes, numbers, restart: ((numbers + 2) ** processes, processes),
    "grid": lambda width, height, room: (width * height, 12),
    "islands": lambda islands, size, leaving, seed: (islands * size + 1, 1 + 2 * leaving),
    "stairs": lambda steps: (steps, 3),
    "random": lambda states, choices, transitions, seed: (states, ((choices + 1) * (transitions + 1) + 3) // 4),
}


FAMILIES = {
    name: Family(**vars(kind), bound=_BOUNDS[name])
    for name, kind in read_kinds(Path(__file__).with_name("families.toml")).items()
}
"""The families by name."""


def family(name: str, *, on_step: "OnProgress | None" = None, **sizes: int) -> "Mdp":
    """Generate a member of a family.

    Parameters
    ----------
    name : str
        One of `FAMILIES`.
    on_step : callable, optional
        Called now and then with the states made, and all of them.
    **sizes : int
        Sizes by name, including the seed; others have the family's defaults.

    Returns
    -------
    Mdp
        The same for the same numbers on every machine.

    Raises
    ------
    InputError
        When there is no such family or size, a size is out of its range, or the model does not fit in 32 bits or in
        memory.
    """
    if name not in FAMILIES:
        raise InputError(f"no family {name!r}: there are {', '.join(FAMILIES)}")
    chosen = FAMILIES[name]
    for key, value in sizes.items():
        if key not in chosen.sizes:
            raise InputError(f"{name} has no size {key!r}: it has {', '.join(chosen.sizes)}")
        size = chosen.sizes[key]
        if not size.least <= value <= size.most:
            raise InputError(f"{key} of {name} must be {size.least} to {size.most}, not {value}")
    # Here, as help texts name the families, and need no numpy.
    from cyscc.host.baselines.mdp.families import generators
    from cyscc.host.baselines.mdp.model import check_size
    from cyscc.host.graph.available_memory import check_available_memory

    numbers = chosen.defaults | sizes
    states, transitions = chosen.bound(**numbers)
    check_size(states, 0)
    check_available_memory(f"{name} models of this size", states * (_STATE + transitions * _TRANSITION))
    make: Callable[..., Mdp] = getattr(generators, name)
    return make(**numbers, on_step=on_step)
