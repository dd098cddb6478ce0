"""The algorithm of sections 2.3 and 3.4 as the text has it, and with our repairs one by one: short and slow.

Section 3.4 removes states and keeps their choices' other edges, since a search ignores only the edges between regions
and those to removed states, and a component of whose states each has a choice inside of it is a maximal end component.
"""

from dataclasses import dataclass, field

import numpy as np

from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.checker import strong_parts
from tests.host.baselines.mdp.models import choices_of


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """Deviations from the text of the paper.

    Parameters
    ----------
    whole_choices : bool
        A choice that may lead to a removed state goes with all its edges, not only with the one to that state.
    closed : bool
        A component is a maximal end component only if no choice can leave it, not if each state has one that stays.
    drop_leaving : bool
        Choices that can leave their component are dropped, so that its other edges by them do not count.
    """

    whole_choices: bool = True
    closed: bool = True
    drop_leaving: bool = True


@dataclass
class _State:
    choices: list[set[int]] = field(default_factory=list)


def _attractor(states: dict[int, _State], start: set[int], within: set[int]) -> set[int]:
    """Return the attractor of definition 7, in a set."""
    found = set(start)
    while True:
        more = {number for number in within - found if all(targets & found for targets in states[number].choices)}
        if not more:
            return found
        found |= more


def literal_mecs(mdp: Mdp, repairs: Repairs) -> tuple[list[int], int]:
    """Return for each state its maximal end component or -1, and the number of rounds."""
    states = {state: _State(choices_of(mdp, state)) for state in range(mdp.states)}
    mecs = [-1] * mdp.states
    rounds = 0
    while states:
        rounds += 1
        edges = sorted({(s, t) for s, each in states.items() for targets in each.choices for t in targets})
        pairs = np.array(edges, np.int64).reshape(-1, 2)
        parts = strong_parts(mdp.states, pairs[:, 0], pairs[:, 1].astype(np.uint32))
        components = [{s for s in states if parts[s] == part} for part in sorted({int(parts[s]) for s in states})]
        removed: set[int] = set()
        for component in components:
            stays = {s: [targets for targets in states[s].choices if targets <= component] for s in component}
            leaves = any(len(stays[s]) < len(states[s].choices) for s in component)
            unclosed = {s for s in component if not stays[s]}
            if repairs.drop_leaving:
                for s in component:
                    states[s].choices = stays[s]
            removed |= _attractor(states, unclosed, component)
            if not unclosed and not (repairs.closed and leaves):
                for s in component:
                    mecs[s] = min(component)
                removed |= _attractor(states, component, set(states))
        for s in removed:
            del states[s]
        for each in states.values():
            if repairs.whole_choices:
                each.choices = [targets for targets in each.choices if not targets & removed]
            else:
                each.choices = [targets - removed for targets in each.choices if targets - removed]
    return mecs, rounds
