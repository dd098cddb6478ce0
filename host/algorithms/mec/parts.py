"""Parts of a Markov decision process that no choice joins: its weakly connected components, as steps."""

from typing import Any

import numpy as np

from host.devices import Device, DeviceArray, atomic_swap, device_function, step
from host.devices.primitives import prefix_sum

__all__ = ["number_parts"]


@step
def _begin(state: int, parents: Any) -> None:
    parents[state] = state


@device_function
def _root(parents: Any, state: int) -> int:
    """Return the root of the tree that a state is in, and halve the path to it.

    Others may do the same at a time: what is written is an ancestor, whichever it is, and of a state that is no root
    any more, so that no claim of a root is undone.
    """
    place = state
    parent = parents[place]
    while parent != place:
        above = parents[parent]
        parents[place] = above
        place = parent
        parent = above
    return place


@step
def _join(choice: int, transitions: Any, targets: Any, owners: Any, parents: Any) -> None:
    """Join the trees of a choice's state and of its targets: the larger root is put below the smaller one."""
    for edge in range(transitions[choice], transitions[choice + 1]):
        one = _root(parents, owners[choice])
        other = _root(parents, targets[edge])
        while one != other:
            low = min(one, other)
            high = max(one, other)
            if atomic_swap(parents, high, high, low) == high:
                break
            # Somebody else has put it below another one.
            one = low
            other = _root(parents, high)


@step
def _mark_roots(state: int, parents: Any, roots: Any) -> None:
    if parents[state] == state:
        roots[state] = 1


@step
def _number(state: int, parents: Any, ranks: Any, parts: Any) -> None:
    parts[state] = ranks[_root(parents, state)]


def number_parts(
    device: Device,
    states: int,
    choices: int,
    *,
    transitions: DeviceArray,
    targets: DeviceArray,
    owners: DeviceArray,
) -> DeviceArray:
    """Find the parts that no choice joins, and give them numbers.

    Parameters
    ----------
    device : Device
        Where the arrays are.
    states, choices : int
        How many there are.
    transitions, targets : array of the device
        Those of `host.mdp.model.Mdp`; targets are int32.
    owners : array of int32, shape (choices,)
        The state of each choice.

    Returns
    -------
    array of int64, shape (states,)
        For each state its part, from 0.
    """
    parents = device.zeros(states, np.int32)
    ranks, parts = device.zeros(states), device.zeros(states)
    device.run(_begin, states, parents)
    device.run(_join, choices, transitions, targets, owners, parents)
    device.run(_mark_roots, states, parents, ranks)
    prefix_sum(device, ranks, states)
    device.run(_number, states, parents, ranks, parts)
    return parts
