"""Generators of the families' members: state by state, in chunks.

States are positions (cells of rooms, islands, steps), random, or products of small state machines, one digit each.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Mdp, check_size, offsets_of
from cyscc.host.graph.available_memory import GrowingColumns
from cyscc.host.graph.generators import below, stream
from cyscc.host.output.progress import OnProgress
from cyscc.sim.caching.numba_code import njit

_ROOM = 1 << 20  # transitions in a chunk, unless a single state has more


class Chunk(NamedTuple):
    """Buffer of states under construction, in order."""

    targets: NDArray[np.uint32]
    """Targets of their choices."""
    lengths: NDArray[np.uint32]
    """Number of targets of each choice."""
    counts: NDArray[np.uint32]
    """Number of choices of each state."""
    ends: NDArray[np.int64]
    """Lengths of the three arrays so far, then the numbers of targets and choices at the end of the last ones."""


@njit(cache=True, nogil=True)
def put(chunk: Chunk, target: int) -> None:
    """Add a target to the current choice."""
    chunk.targets[chunk.ends[0]] = target
    chunk.ends[0] += 1


@njit(cache=True, nogil=True)
def put_new(chunk: Chunk, target: int) -> None:
    """Add a target to the current choice, unless it is there already."""
    for place in range(chunk.ends[3], chunk.ends[0]):
        if chunk.targets[place] == target:
            return
    put(chunk, target)


@njit(cache=True, nogil=True)
def end_choice(chunk: Chunk) -> None:
    """End a choice."""
    chunk.lengths[chunk.ends[1]] = chunk.ends[0] - chunk.ends[3]
    chunk.ends[1] += 1
    chunk.ends[3] = chunk.ends[0]


@njit(cache=True, nogil=True)
def end_state(chunk: Chunk, state: int) -> None:
    """End a state; a state without choices gets a self-loop."""
    if chunk.ends[1] == chunk.ends[4]:
        put(chunk, state)
        end_choice(chunk)
    chunk.counts[chunk.ends[2]] = chunk.ends[1] - chunk.ends[4]
    chunk.ends[2] += 1
    chunk.ends[4] = chunk.ends[1]


def fill_states(
    fill: Callable[..., None], arguments: tuple[Any, ...], states: int, transitions: int, on_step: OnProgress | None
) -> Mdp:
    """Generate a model chunk by chunk.

    Parameters
    ----------
    fill : callable
        Generates states, given `arguments`, the first state, one past the last, and an empty chunk.
    arguments : tuple
        Arguments of `fill`.
    states : int
        Number of states.
    transitions : int
        Most transitions of a state, and so most choices.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp

    Raises
    ------
    InputError
        When the model does not fit in 32 bits or in memory.
    """
    size = max(min(states, _ROOM // transitions), 1)
    targets, lengths, counts = (np.empty(size * most, np.uint32) for most in (transitions, transitions, 1))
    chunk = Chunk(targets, lengths, counts, np.zeros(5, np.int64))
    parts = [
        GrowingColumns(np.uint32, of="transitions"),
        GrowingColumns(np.uint32, of="choices", extra=8),
        GrowingColumns(np.uint32, of="states", extra=8),
    ]
    for first in range(0, states, size):
        last = min(first + size, states)
        chunk.ends[:] = 0
        fill(*arguments, first, last, chunk)
        check_size(states, parts[0].count + int(chunk.ends[0]))
        for part, array, end in zip(parts, chunk[:3], chunk.ends.tolist(), strict=False):
            part.append(array[:end])
        if on_step is not None:
            on_step(last, states)
    targets, lengths, counts = (part.take()[0] for part in parts)
    return Mdp(choices=offsets_of(counts), transitions=offsets_of(lengths), targets=targets)


class Ranks(NamedTuple):
    """Numbering of the codes that are states."""

    codes: NDArray[np.uint32]
    """The code of each state, ascending."""
    ranks: NDArray[np.uint32]
    """The state of each code; for a code that is not a state, that of the next code that is."""


@njit(cache=True, nogil=True)
def digit(code: int, radix: int, place: int) -> int:
    """Return a digit of a code; place 0 is the least significant."""
    for _ in range(place):
        code //= radix
    return code % radix


def rank_states(codes: int, mark: Callable[[NDArray[np.bool_]], None]) -> Ranks:
    """Assign ascending numbers to the codes that are states.

    Parameters
    ----------
    codes : int
        Number of codes.
    mark : callable
        Given an array of bool, shape (codes,), sets whether each code is a state.
    """
    marks = np.empty(codes, np.bool_)
    mark(marks)
    ranks = np.cumsum(marks, dtype=np.uint32)
    ranks -= marks
    return Ranks(np.flatnonzero(marks).astype(np.uint32), ranks)


_MOVES = 4
_RIGHT, _DOWN, _LEFT, _UP = range(_MOVES)
_WAYS = 3


@njit(cache=True, nogil=True)
def _moved(column: int, row: int, move: int, sizes: tuple[int, int, int]) -> int:
    """Return the target cell of a move; walls stop it, and doors open to the right and down only."""
    width, height, room = sizes
    stays = row * width + column
    if move == _RIGHT:
        wall = (column + 1) % room == 0 and row % room != room // 2
        return stays if column + 1 == width or wall else stays + 1
    if move == _DOWN:
        wall = (row + 1) % room == 0 and column % room != room // 2
        return stays if row + 1 == height or wall else stays + width
    if move == _LEFT:
        return stays if column % room == 0 else stays - 1
    return stays if row % room == 0 else stays - width


@njit(cache=True, nogil=True)
def _fill_grid(sizes: tuple[int, int, int], first: int, last: int, chunk: Chunk) -> None:
    for state in range(first, last):
        column, row = state % sizes[0], state // sizes[0]
        for move in range(_MOVES):
            for turn in (0, 1, 3):
                put_new(chunk, _moved(column, row, (move + turn) % _MOVES, sizes))
            end_choice(chunk)
        end_state(chunk, state)


def grid(width: int, height: int, room: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Generate a grid of rooms, each with a door in the middle of its right and of its lower wall.

    The choices are moves to the right, down, left and up. Each may slip to either side. A move that hits a wall stays
    in its cell. Doors open to the right and down only, also for slips.

    Each room, with all of its cells, is a MEC: beside a door there is always a move that cannot slip through it.

    Parameters
    ----------
    width, height, room : int
        Cells of the world, and of a room, which is a square; those at the right and below are smaller where it does
        not divide the world.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        The cells row by row.
    """
    sizes = width, height, room
    return fill_states(_fill_grid, (sizes,), width * height, _MOVES * _WAYS, on_step)


@njit(cache=True, nogil=True)
def _fill_islands(seed: int, sizes: tuple[int, int, int], first: int, last: int, chunk: Chunk) -> None:
    islands, size, leaving = sizes
    sea = islands * size
    for state in range(first, last):
        bits = stream(np.uint64(seed), state)
        island, number = state // size, state % size
        put(chunk, sea if state == sea else island * size + (number + 1) % size)
        end_choice(chunk)
        for _ in range(0 if state == sea else leaving):
            other = below(bits, islands - 1)
            other += other >= island
            put(chunk, other * size + below(bits, size))
            put(chunk, sea)
            end_choice(chunk)
        end_state(chunk, state)


def islands(islands: int, size: int, leaving: int, seed: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Generate a model of islands, which are rings of states, and the sea.

    In each state, one choice leads to the next state of the ring. Each other choice leads at random to some state of
    another ring or into the sea, an absorbing state. Nearly all rings are one component. But no choice reaches another
    ring with certainty, so the MECs are the single rings, and the sea.

    Parameters
    ----------
    islands, size, leaving : int
        Number of rings; states of each; choices of each state that can leave its island.
    seed : int
        0 to 2**64 - 1.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        Ring by ring, and the sea, which is the last state.
    """
    return fill_states(
        _fill_islands, (np.uint64(seed), (islands, size, leaving)), islands * size + 1, 1 + 2 * leaving, on_step
    )


@njit(cache=True, nogil=True)
def _fill_stairs(top: int, first: int, last: int, chunk: Chunk) -> None:
    for state in range(first, last):
        put(chunk, state)
        end_choice(chunk)
        if state < top:
            put(chunk, 0)
            put(chunk, state + 1)
            end_choice(chunk)
        end_state(chunk, state)


def stairs(steps: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Generate a flight of stairs, which needs as many rounds as it has steps.

    On each step, one choice is to stay, and another leads at random one step up or back to the lowest one. The highest
    step only has the choice to stay. All other steps are one component. A step becomes a MEC only after the one above
    it, because its other choice may lead up. So an algorithm that finds components, and drops the choices that leave
    them, finds one MEC per round, from the top: `steps` MECs of one state each, in as many rounds.

    Parameters
    ----------
    steps : int
        Number of states.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        From the lowest step up.
    """
    return fill_states(_fill_stairs, (steps - 1,), steps, 3, on_step)


@njit(cache=True, nogil=True)
def _fill_random(seed: int, sizes: tuple[int, int, int], first: int, last: int, chunk: Chunk) -> None:
    states, most_choices, most_targets = sizes
    for state in range(first, last):
        # A random stream for each state, so that it depends on nothing else.
        bits = stream(np.uint64(seed), state)
        for _ in range(below(bits, most_choices) + 1):
            end = chunk.ends[0] + min(below(bits, most_targets) + 1, states)
            while chunk.ends[0] < end:
                put_new(chunk, below(bits, states))
            end_choice(chunk)
        end_state(chunk, state)


def random(states: int, choices: int, transitions: int, seed: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Draw a model: each state has 1 to `choices` choices, and each choice 1 to `transitions` different targets.

    Numbers and targets are uniform. Unless they are small or sparse, such models have one large MEC, and states that
    only lead to it: the graph has a giant component without exits.

    Parameters
    ----------
    states, choices, transitions : int
        Number of states; most choices of a state; most transitions of a choice (no more than there are states).
    seed : int
        0 to 2**64 - 1.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
    """
    return fill_states(
        _fill_random, (np.uint64(seed), (states, choices, transitions)), states, choices * transitions, on_step
    )


_THINKS, _WANTS_LEFT, _WANTS_RIGHT, _HAS_LEFT, _HAS_RIGHT, _EATS, _CRASHED, _LOST = range(8)
_WITH_LEFT, _WITH_RIGHT = (_HAS_LEFT, _EATS), (_HAS_RIGHT, _EATS)
"""States of a philosopher who holds a fork."""


@njit(cache=True, nogil=True)
def _forks_agree(radix: int, count: int, marks: NDArray[np.bool_]) -> None:
    """Mark the states in which no fork is held twice; a philosopher's right fork is the left one of the next."""
    for code in range(len(marks)):
        agree = True
        for each in range(count):
            following = digit(code, radix, (each + 1) % count)
            agree = agree and not (digit(code, radix, each) in _WITH_RIGHT and following in _WITH_LEFT)
        marks[code] = agree


@njit(cache=True, nogil=True)
def _next(radix: int, own: int, left_free: bool, right_free: bool) -> tuple[int, int]:
    """Return the next states of a philosopher's step other than a crash: one, two at random, or none (-1)."""
    first, second = -1, -1
    if own == _THINKS:
        first, second = _WANTS_LEFT, _WANTS_RIGHT
    elif own == _WANTS_LEFT:
        first = _HAS_LEFT if left_free else -1
    elif own == _WANTS_RIGHT:
        first = _HAS_RIGHT if right_free else -1
    elif own == _HAS_LEFT:
        first = _EATS if right_free else _THINKS
    elif own == _HAS_RIGHT:
        first = _EATS if left_free else _THINKS
    elif own == _EATS:
        first = _THINKS
    elif own == _CRASHED:
        first, second = _THINKS, (_LOST if radix > _LOST else -1)
    return first, second


@njit(cache=True, nogil=True)
def _fill_philosophers(radix: int, count: int, ranks: Ranks, first: int, last: int, chunk: Chunk) -> None:
    for state in range(first, last):
        code = np.int64(ranks.codes[state])
        unit = 1
        for each in range(count):
            own = digit(code, radix, each)
            left_free = digit(code, radix, (each + count - 1) % count) not in _WITH_RIGHT
            right_free = digit(code, radix, (each + 1) % count) not in _WITH_LEFT
            one, other = _next(radix, own, left_free, right_free)
            if one >= 0:
                put(chunk, ranks.ranks[code + (one - own) * unit])
                if other >= 0:
                    put(chunk, ranks.ranks[code + (other - own) * unit])
                end_choice(chunk)
            if own < _CRASHED:
                put(chunk, ranks.ranks[code + (_CRASHED - own) * unit])
                end_choice(chunk)
            unit *= radix
        end_state(chunk, state)


def philosophers(philosophers: int, risky: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Generate a model of randomized dining philosophers that can crash.

    A philosopher thinks, tosses a coin for the fork to take first, waits for it, and then either eats or, if the other
    fork is taken, puts it down again. A philosopher may crash at any time, which puts the forks down. A repair lets him
    think again; a risky one loses him for good half of the time. A choice selects the philosopher for the next step,
    and whether that is a crash.

    With safe repairs, all states are one MEC. With risky repairs, there is one MEC for each division of the
    philosophers into active, crashed and lost ones, except that all divisions without active ones give a state each:
    3**n - 2**n + 1 MECs, of sizes from 1 to all states in which nobody is down.

    Parameters
    ----------
    philosophers : int
        Number of philosophers.
    risky : int
        1 when a repair may fail, otherwise 0.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        States in which no fork is held twice; the first is the one in which everybody thinks.
    """
    radix = _LOST + risky
    ranks = rank_states(radix**philosophers, lambda marks: _forks_agree(radix, philosophers, marks))
    return fill_states(_fill_philosophers, (radix, philosophers, ranks), len(ranks.codes), 3 * philosophers, on_step)


_TOSSES, _RISES, _FALLS, _LOOKS, _HEADS, _TAILS = range(6)
_RADIX = 6


@njit(cache=True, nogil=True)
def _fill_coin(processes: int, bound: int, first: int, last: int, chunk: Chunk) -> None:
    floor = _RADIX**processes
    middle = (bound + 1) * processes
    for state in range(first, last):
        counter = state // floor - middle
        unit = 1
        for each in range(processes):
            own = digit(state, _RADIX, each)
            base = state - own * unit
            if own == _TOSSES:
                put(chunk, base + _RISES * unit)
                put(chunk, base + _FALLS * unit)
            elif own == _RISES:
                put(chunk, base + _LOOKS * unit + (floor if counter < middle else 0))
            elif own == _FALLS:
                put(chunk, base + _LOOKS * unit - (floor if counter > -middle else 0))
            elif own == _LOOKS:
                decided = _HEADS if counter >= bound * processes else _TAILS
                put(chunk, base + (decided if abs(counter) >= bound * processes else _TOSSES) * unit)
            if own not in (_HEADS, _TAILS):
                end_choice(chunk)
            unit *= _RADIX
        end_state(chunk, state)


def coin(processes: int, bound: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Generate the model of a shared coin.

    A process tosses a coin, increments or decrements the shared counter accordingly, and reads it. At plus or minus
    `bound` times the number of processes it decides; otherwise it tosses again. A choice selects the process for the
    next step.

    The random walk is a large component that is dismantled state by state from the ends of the counter. No choice can
    postpone the decision for certain, so the MECs are the single states in which all have decided: one for each value
    of the counter (few of them reachable from its middle) and each of the 2**n decisions.

    Parameters
    ----------
    processes, bound : int
        Number of processes; factor of the counter value at which they decide.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        All values of the counter and all states of the processes.
    """
    states = (2 * (bound + 1) * processes + 1) * _RADIX**processes
    return fill_states(_fill_coin, (processes, bound), states, 2 * processes, on_step)


_OUT, _WAITS, _FIRST = 0, 1, 2


@njit(cache=True, nogil=True)
def _somebody_waits(radix: int, count: int, marks: NDArray[np.bool_]) -> None:
    """Mark the states in which a number is still to be drawn; a complete round is represented by the next one."""
    for code in range(len(marks)):
        marks[code] = False
        for each in range(count):
            marks[code] = marks[code] or digit(code, radix, each) == _WAITS


@njit(cache=True, nogil=True)
def _settled(code: int, radix: int, count: int) -> int:
    """Return the state after a draw; if it was the last of its round, the next round with the highest drawers."""
    largest = 0
    for each in range(count):
        own = digit(code, radix, each)
        if own == _WAITS:
            return code
        largest = max(largest, own)
    settled, unit = 0, 1
    for each in range(count):
        settled += unit * (_WAITS if digit(code, radix, each) == largest else _OUT)
        unit *= radix
    return settled


@njit(cache=True, nogil=True)
def _fill_leader(radix: int, count: int, restart: int, ranks: Ranks, first: int, last: int, chunk: Chunk) -> None:
    everybody = (radix**count - 1) // (radix - 1) * _WAITS
    for state in range(first, last):
        code = np.int64(ranks.codes[state])
        present, unit = 0, 1
        for each in range(count):
            present += digit(code, radix, each) != _OUT
        if present == 1 and restart:
            put(chunk, ranks.ranks[everybody])
            end_choice(chunk)
        for each in range(count if present > 1 else 0):
            if digit(code, radix, each) == _WAITS:
                # All draws below the maximum lead to one state, and those above to another.
                for drawn in range(_FIRST, radix):
                    put_new(chunk, ranks.ranks[_settled(code + (drawn - _WAITS) * unit, radix, count)])
                end_choice(chunk)
            unit *= radix
        end_state(chunk, state)


def leader(processes: int, numbers: int, restart: int, *, on_step: OnProgress | None = None) -> Mdp:
    """Generate the model of a leader election.

    In a round, each remaining process draws a number; those with the highest number enter the next round. The last one
    is the leader. A choice selects the process that draws next.

    Without a restart, the set of processes shrinks; each set is a component of its own that is eventually left, and
    the MECs are the n leader states. With a restart, all states are one MEC.

    Parameters
    ----------
    processes, numbers : int
        Number of processes; number of values to draw from.
    restart : int
        1 if a new election with all processes follows, otherwise 0.
    on_step : callable, optional
        Called now and then with the states made, and all of them.

    Returns
    -------
    Mdp
        States in which a process has yet to draw, including the leader states.
    """
    radix = numbers + _FIRST
    ranks = rank_states(radix**processes, lambda marks: _somebody_waits(radix, processes, marks))
    return fill_states(_fill_leader, (radix, processes, restart, ranks), len(ranks.codes), processes * numbers, on_step)
