"""The parallel algorithm for maximal end components (Wijs et al. 2014, section 3.4), made of steps."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from host.algorithms.mec import steps
from host.algorithms.mec.decomposition import MecDecomposition, MecRound
from host.algorithms.mec.parts import number_parts
from host.algorithms.software.decomposition import Decomposition, Setting, unwatched
from host.devices import Device, DeviceArray
from host.devices.primitives import prefix_sum
from host.errors import InputError
from host.graph.csr import Graph
from host.mdp.model import Mdp

__all__ = ["RegionComponents", "parallel"]

RegionComponents = Callable[[Graph, Graph, Setting, NDArray[np.int64]], Decomposition]
"""Finds the strongly connected components of a graph, given its transpose too, and for each vertex its region: every
component lies inside of one. Its labels are vertices of the graph, one for each component."""

_MOST = 2**31 - 1
"""States, choices and transitions, which steps count in 32-bit integers with a sign."""

_DROPPED, _QUEUED, _FOLLOWED, _EDGES, _CLOSED = range(5)
"""What the steps count, by place."""


@dataclass(frozen=True, kw_only=True)
class _Left:
    """What is left of a Markov decision process, in the memory of a device.

    Parameters
    ----------
    states, choices, transitions : int
        How many.
    offsets, starts, targets : array of the device
        The arrays ``choices``, ``transitions`` and ``targets`` of `host.mdp.model.Mdp`; targets are int32.
    names : array of int32, shape (states,)
        What the states are called in the whole.
    """

    states: int
    choices: int
    transitions: int
    offsets: DeviceArray
    starts: DeviceArray
    targets: DeviceArray
    names: DeviceArray


@dataclass(frozen=True, kw_only=True)
class _Incoming:
    """For each state the choices that lead to it.

    Parameters
    ----------
    offsets : array of int64, shape (states + 1,)
        Those of state ``s`` are at ``offsets[s]`` to ``offsets[s + 1] - 1``.
    choices, sources : array of int32, shape (transitions,)
        The choices, and their states.
    owners : array of int32, shape (choices,)
        The state of each choice.
    """

    offsets: DeviceArray
    choices: DeviceArray
    sources: DeviceArray
    owners: DeviceArray


def _upload(device: Device, mdp: Mdp) -> _Left:
    if max(mdp.states, mdp.choice_count, mdp.transition_count) > _MOST:
        raise InputError(f"algorithms made of steps take at most {_MOST} states, choices and transitions")
    return _Left(
        states=mdp.states,
        choices=mdp.choice_count,
        transitions=mdp.transition_count,
        offsets=device.array(mdp.choices),
        starts=device.array(mdp.transitions),
        targets=device.array(mdp.targets.view(np.int32)),
        names=device.array(np.arange(mdp.states, dtype=np.int32)),
    )


class _Run:
    """A run: what is left, and what was found.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    setting : Setting
        How it runs.
    components : callable
        What finds the components of each round.
    """

    def __init__(self, mdp: Mdp, setting: Setting, components: RegionComponents) -> None:
        self._setting = setting
        self._device = setting.device
        self._components = components
        self._left = _upload(self._device, mdp)
        self._mecs = self._device.full(mdp.states, -1, np.int32)
        self._rounds: list[MecRound] = []
        self._edges = self._passes = 0

    def finish(self) -> MecDecomposition:
        """Find all."""
        states = self._left.states
        while self._left.states:
            self._round()
            self._setting.watch(states - self._left.states, states)
        return MecDecomposition(
            mecs=self._device.read(self._mecs).astype(np.int64),
            rounds=tuple(self._rounds),
            counts={"edges": self._edges, "passes": self._passes},
        )

    def _incoming(self) -> _Incoming:
        """Turn the transitions round."""
        device, left = self._device, self._left
        owners = device.zeros(left.choices, np.int32)
        device.run(steps.own_choices, left.states, left.offsets, owners)
        offsets = device.zeros(left.states + 1)
        device.run(steps.count_incoming, left.transitions, left.targets, offsets)
        prefix_sum(device, offsets, left.states + 1)
        cursors = device.array(device.read(offsets).copy())
        choices, sources = (device.zeros(left.transitions, np.int32) for _ in range(2))
        device.run(steps.fill_incoming, left.choices, left.starts, left.targets, owners, cursors, choices, sources)
        return _Incoming(offsets=offsets, choices=choices, sources=sources, owners=owners)

    def _labels(self, incoming: _Incoming) -> NDArray[np.int64]:
        """Find the strongly connected components of what is left."""
        device, left = self._device, self._left
        offsets = device.zeros(left.states + 1)
        device.run(steps.source_offsets, left.states + 1, left.offsets, left.starts, offsets)
        graph, transpose = (
            Graph(offsets=device.read(starts), targets=device.read(ends).view(np.uint32))
            for starts, ends in ((offsets, left.targets), (incoming.offsets, incoming.sources))
        )
        found = self._components(graph, transpose, replace(self._setting, watch=unwatched), self._regions(incoming))
        self._edges += found.counts.get("edges", 0)
        self._passes += found.counts.get("passes", 0)
        return found.labels

    def _regions(self, incoming: _Incoming) -> NDArray[np.int64]:
        """Return for each state its region: at first all are in one, then those that choices join."""
        device, left = self._device, self._left
        if not self._rounds:
            return np.zeros(left.states, np.int64)
        self._passes += 1
        self._edges += left.transitions
        parts = number_parts(
            device,
            left.states,
            left.choices,
            transitions=left.starts,
            targets=left.targets,
            owners=incoming.owners,
        )
        return device.read(parts)

    def _round(self) -> None:
        device, left = self._device, self._left
        incoming = self._incoming()
        labels = self._labels(incoming)
        components = np.count_nonzero(labels == np.arange(left.states))
        labels = device.array(labels)
        dropped = device.zeros(left.choices, np.int32)
        remaining, touched, queue = (device.zeros(left.states, np.int32) for _ in range(3))
        counts = device.zeros(5)
        device.run(
            steps.drop_leaving,
            left.states,
            *(left.offsets, left.starts, left.targets, labels, dropped, remaining, touched, queue, counts),
        )
        leaving = device.value(counts, _DROPPED)
        first, last = 0, device.value(counts, _QUEUED)
        while first < last:
            device.run(
                steps.attract,
                last - first,
                *(first, queue, incoming.offsets, incoming.choices, incoming.sources, dropped, remaining, counts),
            )
            self._passes += 1
            first, last = last, device.value(counts, _QUEUED)
        smallest = device.full(left.states, 2**31 - 1, np.int32)
        # One more, for the sum.
        kept = device.zeros(left.states + 1)
        device.run(steps.mark, left.states, labels, touched, remaining, left.names, smallest, kept)
        device.run(steps.name, left.states, labels, touched, left.names, smallest, self._mecs, counts)
        self._left = self._restricted(incoming.owners, dropped, kept)
        self._edges += left.transitions + device.value(counts, _EDGES)
        self._passes += 1
        self._rounds.append(
            MecRound(
                states=left.states,
                choices=left.choices,
                transitions=left.transitions,
                components=int(components),
                dropped=leaving,
                removed=last + device.value(counts, _FOLLOWED),
                mecs=device.value(counts, _CLOSED),
            )
        )

    def _restricted(self, owners: DeviceArray, dropped: DeviceArray, kept: DeviceArray) -> _Left:
        """Return what stays, with numbers of its own; `kept` becomes those of the states."""
        device, left = self._device, self._left
        states = prefix_sum(device, kept, left.states + 1)
        if not states:
            return replace(left, states=0)
        flags, sizes = (device.zeros(left.choices + 1) for _ in range(2))
        device.run(steps.keep_choices, left.choices, owners, left.starts, kept, dropped, flags, sizes)
        choices, transitions = (prefix_sum(device, array, left.choices + 1) for array in (flags, sizes))
        own = _Left(
            states=states,
            choices=choices,
            transitions=transitions,
            offsets=device.zeros(states + 1),
            starts=device.zeros(choices + 1),
            targets=device.zeros(transitions, np.int32),
            names=device.zeros(states, np.int32),
        )
        device.store(own.offsets, states, choices)
        device.store(own.starts, choices, transitions)
        device.run(
            steps.move_states,
            left.states,
            *(left.offsets, left.names, kept, flags, own.offsets, own.names),
        )
        device.run(
            steps.move_choices,
            left.choices,
            *(left.starts, left.targets, kept, flags, sizes, own.starts, own.targets),
        )
        return own


def parallel(mdp: Mdp, setting: Setting, components: RegionComponents) -> MecDecomposition:
    """Find the maximal end components.

    The rounds are those of `host.algorithms.mec.basic`. The components of a round lie inside those of the round before,
    so that the search for them can begin in several regions at once. When the choices that leave are dropped, a
    component often falls into parts that no choice joins: each of these is a region.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    setting : Setting
        How it runs.
    components : callable
        What finds the components of each round.

    Raises
    ------
    InputError
        The model is too large.
    """
    return _Run(mdp, setting, components).finish()
