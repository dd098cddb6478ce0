"""Families of Markov decision processes of any size: a table of their names, sizes and bounds.

Help only needs this table. The generators are slow to import, and are imported with the first model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyscc.host.graph.kinds import SEED, Kind, Size
from cyscc.host.output.errors import InputError

if TYPE_CHECKING:
    from cyscc.host.baselines.mdp.model import Mdp
    from cyscc.host.output.progress import OnProgress

_MANY = 2**32 - 2
_STATE, _TRANSITION = 12, 8
"""Most bytes for a state and a transition while a model is generated."""


@dataclass(frozen=True, kw_only=True)
class Family(Kind):
    """A family of Markov decision processes, made by the function of its name in `generators`; sizes have defaults.

    Parameters
    ----------
    bound : callable
        Returns, for given sizes, approximate upper bounds of the numbers of states and transitions.
    """

    bound: Callable[..., tuple[int, int]]

    @property
    def defaults(self) -> dict[str, int]:
        """Default sizes."""
        return {name: size.default for name, size in self.sizes.items() if size.default is not None}


def _grows(states: int, transitions: int) -> tuple[int, int]:
    """Return a bound from the number of states, and of transitions per state."""
    return states, states * transitions


FAMILIES = {
    "philosophers": Family(
        text="dining philosophers who crash and are repaired: one large MEC, or many of all sizes",
        sizes={
            "philosophers": Size("philosophers", least=2, most=10, default=4),
            "risky": Size("whether a repair may fail", most=1, default=1),
        },
        # Forks exclude about half of the product states for each further philosopher.
        bound=lambda philosophers, risky: _grows((7 + risky) ** philosophers, philosophers),
    ),
    "coin": Family(
        text="shared coin: a random walk of processes; MECs of single states",
        sizes={
            "processes": Size("processes", least=1, most=10, default=3),
            "bound": Size("bound of the counter, times their number", least=1, most=1 << 20, default=2),
        },
        bound=lambda processes, bound: _grows((2 * (bound + 1) * processes + 1) * 6**processes, processes),
    ),
    "leader": Family(
        text="leader election by rounds: a MEC for each leader, or one of all states",
        sizes={
            "processes": Size("processes", least=2, most=16, default=4),
            "numbers": Size("numbers to draw from", least=2, most=1 << 10, default=3),
            "restart": Size("whether another election follows each", most=1, default=0),
        },
        bound=lambda processes, numbers, restart: (
            (numbers + 2) ** processes,
            (numbers + 2) ** (processes - 1) * processes * numbers,
        ),
    ),
    "grid": Family(
        text="gridworld of rooms with one-way doors: a MEC for each room",
        sizes={
            "width": Size("cells from left to right", least=1, most=1 << 20, default=12),
            "height": Size("cells from top to bottom", least=1, most=1 << 20, default=12),
            "room": Size("cells of a room's side", least=3, most=1 << 20, default=4),
        },
        bound=lambda width, height, room: _grows(width * height, 12),
    ),
    "islands": Family(
        text="islands in a sea: many small MECs in one component",
        sizes={
            "islands": Size("islands", least=2, most=_MANY, default=100),
            "size": Size("states of an island", least=1, most=_MANY, default=5),
            "leaving": Size("choices of a state that can leave its island", most=1 << 10, default=2),
            "seed": SEED,
        },
        bound=lambda islands, size, leaving, seed: (islands * size + 1, islands * size * (1 + 2 * leaving)),
    ),
    "stairs": Family(
        text="one component that takes a round for each of its MECs of one state",
        sizes={"steps": Size("steps", least=1, most=_MANY, default=100)},
        bound=lambda steps: _grows(steps, 3),
    ),
    "random": Family(
        text="random numbers of choices and targets, random targets",
        sizes={
            "states": Size("states", least=1, most=_MANY, default=1000),
            "choices": Size("maximum choices of a state", least=1, most=1 << 16, default=3),
            "transitions": Size("maximum transitions of a choice", least=1, most=1 << 10, default=4),
            "seed": SEED,
        },
        bound=lambda states, choices, transitions, seed: (states, states * (choices + 1) * (transitions + 1) // 4),
    ),
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
    check_available_memory(f"{name} models of this size", states * _STATE + transitions * _TRANSITION)
    make: Callable[..., Mdp] = getattr(generators, name)
    return make(**numbers, on_step=on_step)
