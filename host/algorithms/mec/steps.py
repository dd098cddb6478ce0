"""The steps of the parallel algorithm (Wijs et al. 2014, section 3.4): a thread for each state, choice, queue entry.

Races: several threads may set a flag, all to 1. Everything else that two threads may write is claimed by atomic
operations.
"""

from typing import Any

from host.devices import atomic_add, atomic_exchange, atomic_min, step

__all__ = [
    "attract",
    "count_incoming",
    "drop_leaving",
    "fill_incoming",
    "keep_choices",
    "mark",
    "move_choices",
    "move_states",
    "name",
    "own_choices",
    "source_offsets",
]


@step
def own_choices(state: int, choices: Any, owners: Any) -> None:
    """Tell each choice its state."""
    for choice in range(choices[state], choices[state + 1]):
        owners[choice] = state


@step
def source_offsets(place: int, choices: Any, transitions: Any, offsets: Any) -> None:
    """Give each state the transitions of all its choices."""
    offsets[place] = transitions[choices[place]]


@step
def count_incoming(edge: int, targets: Any, counts: Any) -> None:
    """Count the transitions to each state."""
    atomic_add(counts, targets[edge], 1)


@step
def fill_incoming(
    choice: int, transitions: Any, targets: Any, owners: Any, cursors: Any, incoming: Any, sources: Any
) -> None:
    """Put each choice, and its state, in a place of each of its targets."""
    for edge in range(transitions[choice], transitions[choice + 1]):
        place = atomic_add(cursors, targets[edge], 1)
        incoming[place] = choice
        sources[place] = owners[choice]


@step
def drop_leaving(
    state: int,
    choices: Any,
    transitions: Any,
    targets: Any,
    labels: Any,
    dropped: Any,
    remaining: Any,
    touched: Any,
    queue: Any,
    counts: Any,
) -> None:
    """Drop the choices that can leave the component; a state with no others is removed."""
    label = labels[state]
    first = choices[state]
    last = choices[state + 1]
    left = 0
    for choice in range(first, last):
        leaves = False
        for edge in range(transitions[choice], transitions[choice + 1]):
            if labels[targets[edge]] != label:
                leaves = True
                break
        if leaves:
            dropped[choice] = 1
        else:
            left += 1
    remaining[state] = left
    if left == last - first and left > 0:
        return
    touched[label] = 1
    atomic_add(counts, 0, last - first - left)
    if left == 0:
        queue[atomic_add(counts, 1, 1)] = state


@step
def attract(
    thread: int,
    first: int,
    queue: Any,
    offsets: Any,
    incoming: Any,
    sources: Any,
    dropped: Any,
    remaining: Any,
    counts: Any,
) -> None:
    """Drop the choices that lead to a removed state; a state that loses its last one is removed too.

    A thread goes on with one such state by itself, so that a chain of them takes one launch; the others are queued.
    """
    state = queue[first + thread]
    edges = 0
    while state >= 0:
        following = -1
        for edge in range(offsets[state], offsets[state + 1]):
            if atomic_exchange(dropped, incoming[edge], 1) == 0:
                source = sources[edge]
                if atomic_add(remaining, source, -1) == 1:
                    if following < 0:
                        following = source
                        atomic_add(counts, 2, 1)
                    else:
                        queue[atomic_add(counts, 1, 1)] = source
        edges += offsets[state + 1] - offsets[state]
        state = following
    atomic_add(counts, 3, edges)


@step
def mark(state: int, labels: Any, touched: Any, remaining: Any, names: Any, smallest: Any, kept: Any) -> None:
    """Find the smallest state of each component that nothing touched; keep those of the others that have a choice."""
    label = labels[state]
    if touched[label] == 0:
        atomic_min(smallest, label, names[state])
    elif remaining[state] > 0:
        kept[state] = 1


@step
def name(state: int, labels: Any, touched: Any, names: Any, smallest: Any, mecs: Any, counts: Any) -> None:
    """Name each maximal end component by its smallest state."""
    label = labels[state]
    if touched[label] == 0:
        mecs[names[state]] = smallest[label]
        if smallest[label] == names[state]:
            atomic_add(counts, 4, 1)


@step
def keep_choices(
    choice: int, owners: Any, transitions: Any, numbers: Any, dropped: Any, flags: Any, sizes: Any
) -> None:
    """Mark the choices that stay, and tell how many transitions they have."""
    owner = owners[choice]
    if dropped[choice] == 0 and numbers[owner + 1] > numbers[owner]:
        flags[choice] = 1
        sizes[choice] = transitions[choice + 1] - transitions[choice]


@step
def move_states(
    state: int, choices: Any, names: Any, numbers: Any, flags: Any, new_choices: Any, new_names: Any
) -> None:
    """Give a state that stays its new number."""
    number = numbers[state]
    if numbers[state + 1] > number:
        new_choices[number] = flags[choices[state]]
        new_names[number] = names[state]


@step
def move_choices(
    choice: int,
    transitions: Any,
    targets: Any,
    numbers: Any,
    flags: Any,
    sizes: Any,
    new_transitions: Any,
    new_targets: Any,
) -> None:
    """Give a choice that stays its new number, and its transitions their place."""
    if flags[choice + 1] > flags[choice]:
        place = sizes[choice]
        new_transitions[flags[choice]] = place
        for edge in range(transitions[choice], transitions[choice + 1]):
            new_targets[place] = numbers[targets[edge]]
            place += 1
