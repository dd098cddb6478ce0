"""The parallel algorithm for maximal end components (Wijs et al. 2014, section 3.4), built from steps.

Races: several threads may set the same flag to 1. Atomic operations protect everything else that two threads may write.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cyscc.host.baselines.devices import atomic
from cyscc.host.baselines.devices.primitives import DeviceGraph, copied, count_up, prefix_sum, root, unite
from cyscc.host.baselines.devices.steps import Device, DeviceArray, step
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import MecDecomposition, MecRound
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting, unwatched
from cyscc.host.baselines.software.fbt.algorithm import decompose_regions
from cyscc.host.output.errors import InputError

RegionComponents = Callable[[DeviceGraph, DeviceGraph, SoftwareSetting, DeviceArray | None], Decomposition]
"""Function that finds the strongly connected components of a graph, given its transpose and a region for each vertex,
or None for a single one. Every component lies within one region. A label is one vertex of the component; graphs,
regions (int64) and labels (int32) are in device memory."""

_MOST = 2**31 - 1
"""Most states, choices and transitions: steps count in signed 32-bit integers."""

_DROPPED, _QUEUED, _FOLLOWED, _EDGES, _CLOSED, _COMPONENTS = range(6)
"""Indices of the counters of the steps."""


class DeviceMdp(NamedTuple):
    """A Markov decision process, or the remainder of one, in device memory."""

    states: int
    choices: int
    transitions: int
    offsets: DeviceArray
    """int64, shape (states + 1,): ``choices`` of `cyscc.host.baselines.mdp.model.Mdp`."""
    starts: DeviceArray
    """int64, shape (choices + 1,): its ``transitions``."""
    targets: DeviceArray
    """int32, shape (transitions,): its ``targets``."""
    names: DeviceArray
    """int32, shape (states,): ids of the states in the original model."""


class _Incoming(NamedTuple):
    """Choices that lead to each state."""

    offsets: DeviceArray
    """int64, shape (states + 1,): state ``s`` has entries ``offsets[s]`` to ``offsets[s + 1] - 1``."""
    choices: DeviceArray
    """int32, shape (transitions,): the choices."""
    sources: DeviceArray
    """int32, shape (transitions,): source states of the choices."""
    owners: DeviceArray
    """int32, shape (choices,): the state of each choice."""


class _Round(NamedTuple):
    """Result of a round."""

    labels: DeviceArray
    """int32, shape (states,): component of each state, named by one of its states."""
    dropped: DeviceArray
    """int32, shape (choices,): whether a choice is dropped."""
    remaining: DeviceArray
    """int32, shape (states,): remaining choices of each state."""
    touched: DeviceArray
    """int32, shape (states,): by label, whether the component lost a choice or a state."""
    smallest: DeviceArray
    """int32, shape (states,): by label, the smallest state of an untouched component."""
    kept: DeviceArray
    """int64, shape (states + 1,): whether a state stays; then its prefix sum, the new numbers."""
    queue: DeviceArray
    """int32, shape (states,): states without a choice."""
    counts: DeviceArray
    """int64, shape (6,)."""


def upload_mdp(device: Device, mdp: Mdp) -> DeviceMdp:
    """Copy a model to a device.

    Raises
    ------
    InputError
        It is too large.
    """
    if max(mdp.states, mdp.choice_count, mdp.transition_count) > _MOST:
        raise InputError(f"algorithms made of steps take at most {_MOST} states, choices and transitions")
    return DeviceMdp(
        mdp.states,
        mdp.choice_count,
        mdp.transition_count,
        device.array(mdp.choices),
        device.array(mdp.transitions),
        device.array(mdp.targets.view(np.int32)),
        device.array(np.arange(mdp.states, dtype=np.int32)),
    )


@step
def _own_choices(state: int, left: DeviceMdp, owners: DeviceArray) -> None:
    """Store the state of each choice."""
    for choice in range(left.offsets[state], left.offsets[state + 1]):
        owners[choice] = state


@step
def _source_offsets(place: int, left: DeviceMdp, offsets: DeviceArray) -> None:
    """Compute for each state the offset of the transitions of its choices."""
    offsets[place] = left.starts[left.offsets[place]]


@step
def _count_incoming(edge: int, targets: DeviceArray, counts: DeviceArray) -> None:
    """Count the transitions to each state."""
    atomic.add(counts, targets[edge], 1)


@step
def _fill_incoming(choice: int, left: DeviceMdp, cursors: DeviceArray, incoming: _Incoming) -> None:
    """Enter each choice and its state into the lists of its targets."""
    for edge in range(left.starts[choice], left.starts[choice + 1]):
        place = atomic.add(cursors, left.targets[edge], 1)
        incoming.choices[place] = choice
        incoming.sources[place] = incoming.owners[choice]


@step
def _join(choice: int, left: DeviceMdp, owners: DeviceArray, parents: DeviceArray) -> None:
    """Join the trees of a choice's state and of its targets."""
    here = int(owners[choice])
    for edge in range(left.starts[choice], left.starts[choice + 1]):
        here = unite(here, int(left.targets[edge]), parents, 0)


@step
def _part(state: int, parents: DeviceArray, parts: DeviceArray) -> None:
    parts[state] = root(state, parents)


def connected_parts(device: Device, left: DeviceMdp, owners: DeviceArray) -> DeviceArray:
    """Find the weakly connected components of the remaining model.

    Parameters
    ----------
    device : Device
        Device of the arrays.
    left : DeviceMdp
        The Markov decision process.
    owners : array of int32, shape (choices,)
        The state of each choice.

    Returns
    -------
    array of int64, shape (states,)
        Component of each state, named by one of its states.
    """
    parents, parts = device.zeros(left.states, np.int32), device.zeros(left.states)
    device.run(count_up, left.states, parents)
    device.run(_join, left.choices, left, owners, parents)
    device.run(_part, left.states, parents, parts)
    return parts


@step
def _drop_leaving(state: int, left: DeviceMdp, on: _Round) -> None:
    """Drop the choices that can leave the component; a state with no others is removed."""
    label = on.labels[state]
    first = left.offsets[state]
    last = left.offsets[state + 1]
    staying = 0
    for choice in range(first, last):
        leaves = False
        for edge in range(left.starts[choice], left.starts[choice + 1]):
            if on.labels[left.targets[edge]] != label:
                leaves = True
                break
        if leaves:
            on.dropped[choice] = 1
        else:
            staying += 1
    on.remaining[state] = staying
    if staying == last - first and staying > 0:
        return
    on.touched[label] = 1
    atomic.add(on.counts, _DROPPED, last - first - staying)
    if staying == 0:
        on.queue[atomic.add(on.counts, _QUEUED, 1)] = state


@step
def _attract(thread: int, first: int, incoming: _Incoming, on: _Round) -> None:
    """Drop the choices that lead to a removed state, and remove states that lose their last choice.

    A thread continues with one such state itself, so that a chain takes one launch; it queues the others.
    """
    state = on.queue[first + thread]
    edges = 0
    while state >= 0:
        following = -1
        for edge in range(incoming.offsets[state], incoming.offsets[state + 1]):
            if atomic.exchange(on.dropped, incoming.choices[edge], 1) == 0:
                source = incoming.sources[edge]
                if atomic.add(on.remaining, source, -1) == 1:
                    if following < 0:
                        following = source
                        atomic.add(on.counts, _FOLLOWED, 1)
                    else:
                        on.queue[atomic.add(on.counts, _QUEUED, 1)] = source
        edges += incoming.offsets[state + 1] - incoming.offsets[state]
        state = following
    atomic.add(on.counts, _EDGES, edges)


@step
def _mark(state: int, left: DeviceMdp, on: _Round) -> None:
    """Find the smallest state of each untouched component; keep the states of others that have a choice left."""
    label = on.labels[state]
    if label == state:
        atomic.add(on.counts, _COMPONENTS, 1)
    if on.touched[label] == 0:
        atomic.minimum(on.smallest, label, left.names[state])
    elif on.remaining[state] > 0:
        on.kept[state] = 1


@step
def _name(state: int, left: DeviceMdp, on: _Round, mecs: DeviceArray) -> None:
    """Label the states of each maximal end component with its smallest state."""
    label = on.labels[state]
    if on.touched[label] == 0:
        mecs[left.names[state]] = on.smallest[label]
        if on.smallest[label] == left.names[state]:
            atomic.add(on.counts, _CLOSED, 1)


@step
def _keep_choices(
    choice: int, left: DeviceMdp, owners: DeviceArray, on: _Round, flags: DeviceArray, sizes: DeviceArray
) -> None:
    """Mark the choices that stay, and store their numbers of transitions."""
    owner = owners[choice]
    if on.dropped[choice] == 0 and on.kept[owner + 1] > on.kept[owner]:
        flags[choice] = 1
        sizes[choice] = left.starts[choice + 1] - left.starts[choice]


@step
def _move_states(state: int, left: DeviceMdp, numbers: DeviceArray, flags: DeviceArray, own: DeviceMdp) -> None:
    """Copy a state that stays to its new number."""
    number = numbers[state]
    if numbers[state + 1] > number:
        own.offsets[number] = flags[left.offsets[state]]
        own.names[number] = left.names[state]


@step
def _move_choices(
    choice: int, left: DeviceMdp, numbers: DeviceArray, flags: DeviceArray, sizes: DeviceArray, own: DeviceMdp
) -> None:
    """Copy a choice that stays to its new number, with its transitions."""
    if flags[choice + 1] > flags[choice]:
        place = sizes[choice]
        own.starts[flags[choice]] = place
        for edge in range(left.starts[choice], left.starts[choice + 1]):
            own.targets[place] = numbers[left.targets[edge]]
            place += 1


class _Run:
    """State of a run: the remaining model, and the components found.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    setting : SoftwareSetting
        How it runs.
    components : callable
        Finds the components of each round.
    """

    def __init__(self, mdp: Mdp, setting: SoftwareSetting, components: RegionComponents) -> None:
        self._setting = setting
        self._device = setting.device
        self._components = components
        self._left = upload_mdp(self._device, mdp)
        self._mecs = self._device.full(mdp.states, -1, np.int32)
        self._rounds: list[MecRound] = []
        self._edges = self._passes = 0

    def finish(self) -> MecDecomposition:
        """Run rounds until nothing is left."""
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
        """Transpose the transitions."""
        device, left = self._device, self._left
        owners = device.zeros(left.choices, np.int32)
        device.run(_own_choices, left.states, left, owners)
        offsets = device.zeros(left.states + 1)
        device.run(_count_incoming, left.transitions, left.targets, offsets)
        prefix_sum(device, offsets, left.states + 1)
        choices, sources = (device.zeros(left.transitions, np.int32) for _ in range(2))
        incoming = _Incoming(offsets, choices, sources, owners)
        device.run(_fill_incoming, left.choices, left, copied(device, offsets, np.int64), incoming)
        return incoming

    def _labels(self, incoming: _Incoming) -> DeviceArray:
        """Find the strongly connected components of the remaining model."""
        device, left = self._device, self._left
        offsets = device.zeros(left.states + 1)
        device.run(_source_offsets, left.states + 1, left, offsets)
        graph, transpose = DeviceGraph(offsets, left.targets), DeviceGraph(incoming.offsets, incoming.sources)
        regions = None  # one region in the first round, then weakly connected components
        if self._rounds:
            self._passes += 1
            self._edges += left.transitions
            regions = connected_parts(device, left, incoming.owners)
        found = self._components(graph, transpose, replace(self._setting, watch=unwatched), regions)
        self._edges += found.counts.get("edges", 0)
        self._passes += found.counts.get("passes", 0)
        return found.labels

    def _round(self) -> None:
        device, left = self._device, self._left
        incoming = self._incoming()
        on = _Round(
            labels=self._labels(incoming),
            dropped=device.zeros(left.choices, np.int32),
            remaining=device.zeros(left.states, np.int32),
            touched=device.zeros(left.states, np.int32),
            smallest=device.full(left.states, 2**31 - 1, np.int32),
            # One more element, for the total.
            kept=device.zeros(left.states + 1),
            queue=device.zeros(left.states, np.int32),
            counts=device.zeros(6),
        )
        device.run(_drop_leaving, left.states, left, on)
        leaving = device.value(on.counts, _DROPPED)
        first, last = 0, device.value(on.counts, _QUEUED)
        while first < last:
            device.run(_attract, last - first, first, incoming, on)
            self._passes += 1
            first, last = last, device.value(on.counts, _QUEUED)
        device.run(_mark, left.states, left, on)
        device.run(_name, left.states, left, on, self._mecs)
        self._left = self._restricted(incoming.owners, on)
        self._edges += left.transitions + device.value(on.counts, _EDGES)
        self._passes += 1
        self._rounds.append(
            MecRound(
                states=left.states,
                choices=left.choices,
                transitions=left.transitions,
                components=device.value(on.counts, _COMPONENTS),
                dropped=leaving,
                removed=last + device.value(on.counts, _FOLLOWED),
                mecs=device.value(on.counts, _CLOSED),
            )
        )

    def _restricted(self, owners: DeviceArray, on: _Round) -> DeviceMdp:
        """Return the remaining model, renumbered; ``on.kept`` becomes the new numbers of states."""
        device, left = self._device, self._left
        states = prefix_sum(device, on.kept, left.states + 1)
        if not states:
            return left._replace(states=0)
        flags, sizes = (device.zeros(left.choices + 1) for _ in range(2))
        device.run(_keep_choices, left.choices, left, owners, on, flags, sizes)
        choices, transitions = (prefix_sum(device, array, left.choices + 1) for array in (flags, sizes))
        own = DeviceMdp(
            states,
            choices,
            transitions,
            device.zeros(states + 1),
            device.zeros(choices + 1),
            device.zeros(transitions, np.int32),
            device.zeros(states, np.int32),
        )
        device.store(own.offsets, states, choices)
        device.store(own.starts, choices, transitions)
        device.run(_move_states, left.states, left, on.kept, flags, own)
        device.run(_move_choices, left.choices, left, on.kept, flags, sizes, own)
        return own


def parallel(mdp: Mdp, setting: SoftwareSetting, components: RegionComponents = decompose_regions) -> MecDecomposition:
    """Find the maximal end components.

    The rounds are those of `cyscc.host.baselines.mec.basic`. The components of a round lie within those of the round
    before, so the search for them can start in several regions at once. Dropping the leaving choices often splits a
    component into several weakly connected parts: each of these is a region.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    setting : SoftwareSetting
        How it runs.
    components : callable
        What finds the components of each round.

    Raises
    ------
    InputError
        The model is too large.
    """
    return _Run(mdp, setting, components).finish()
