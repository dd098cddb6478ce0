"""Families of Markov decision processes, each of any size, by name."""

from host.errors import InputError
from host.graph.generators.stream import OnStep
from host.mdp.families import coin, grid, islands, leader, philosophers, random, stairs
from host.mdp.families.family import Family, Size
from host.mdp.model import Mdp
from host.mdp.names import FAMILY_NAMES
from host.mdp.pieces import check_size
from host.memory_room import check_room

__all__ = ["FAMILIES", "Family", "Size", "family"]

_MODULES = (philosophers, coin, leader, grid, islands, stairs, random)

FAMILIES: dict[str, Family] = {name: module.FAMILY for name, module in zip(FAMILY_NAMES, _MODULES, strict=True)}
"""The families by name."""

_STATE, _TRANSITION = 12, 8
"""Bytes that a state and a transition take at most while a model is made."""


def family(name: str, *, on_step: OnStep | None = None, **sizes: int) -> Mdp:
    """Make a member of a family.

    Parameters
    ----------
    name : str
        One of `FAMILIES`.
    on_step : callable, optional
        Called now and then with the states made, and all of them.
    **sizes : int
        Sizes of the member by name, the seed among them; those left out have the family's defaults.

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
    numbers = {key: sizes.get(key, size.default) for key, size in chosen.sizes.items()}
    states, transitions = chosen.bound(**numbers)
    check_size(states, 0)
    check_room(f"{name} models of this size", states * _STATE + transitions * _TRANSITION)
    return chosen.make(**numbers, on_step=on_step)
