"""Order of a cycle's statements: few values are alive at once, so that a processor keeps them in its registers.

A compiler leaves the order of so many statements nearly as it is, and stores what it has no register for.
"""

import re
from collections.abc import Sequence

NAME = re.compile(r"\b[acnvwx]_\w+")
"""A value that a statement defines or uses; the one that it defines comes first."""

_DEFINED = re.compile(r"(?:const|alignas\(64\)) \w+ ([acnvwx]_\w+)")
_LOADED = re.compile(r"\bload\((\w+)")
_SET = re.compile(r"(?:update|store)\((\w+)|(\w+) = n_")


class _Statements:
    """Statements with what they need of each other, by number.

    Parameters
    ----------
    texts : sequence of str
        The statements. Each value is defined once, and a member set once.

    Members
    -------
    operands : list of set of int
        By statement: those that define the values that it uses.
    before : list of set of int
        By statement: its operands, and those that load a member that it sets.
    after : list of list of int
        The same the other way round.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        defined = {match[1]: number for number, text in enumerate(texts) if (match := _DEFINED.match(text))}
        loading: dict[str, set[int]] = {}
        for number, text in enumerate(texts):
            for member in _LOADED.findall(text):
                loading.setdefault(member, set()).add(number)
        self.operands = [{defined[name] for name in NAME.findall(text) if name in defined} for text in texts]
        self.before: list[set[int]] = []
        for number, text in enumerate(texts):
            self.operands[number].discard(number)
            match = _SET.match(text)
            loads = loading.get(match[1] or match[2], set()) if match else set()
            self.before.append((self.operands[number] | loads) - {number})
        self.after: list[list[int]] = [[] for _ in texts]
        for number, before in enumerate(self.before):
            for earlier in before:
                self.after[earlier].append(number)


def scheduled(texts: Sequence[str]) -> list[str]:
    """Return statements in another order that computes the same.

    The next one is always the one after which the fewest values wait for a use, and of equal ones the one that uses
    the newest value. What needs no value, such as a load, comes only when nothing else is left: then the one that
    brings the best of the others nearest.

    Parameters
    ----------
    texts : sequence of str
        The statements in an order that is right.
    """
    graph = _Statements(texts)
    missing = [len(before) for before in graph.before]
    uses = [sum(number in graph.operands[user] for user in after) for number, after in enumerate(graph.after)]
    turn = [0] * len(texts)

    def ends(number: int) -> int:
        """Return how many values a statement is the last one to use, of those that are there."""
        return sum(turn[operand] > 0 and uses[operand] == 1 for operand in graph.operands[number])

    def newest(number: int) -> int:
        return max((turn[operand] for operand in graph.operands[number]), default=0)

    def rank(number: int) -> tuple[int, int, int]:
        return ends(number) - (uses[number] > 0), newest(number), -number

    def rank_of_load(number: int) -> tuple[tuple[int, int], int]:
        best = max(((ends(user) - missing[user], newest(user)) for user in graph.after[number]), default=(0, 0))
        return best, -number

    ready = {number for number, count in enumerate(missing) if count == 0}
    loads = {number for number in ready if not graph.operands[number]}
    ready -= loads
    order: list[int] = []
    while ready or loads:
        chosen = max(ready, key=rank) if ready else max(loads, key=rank_of_load)
        (ready or loads).discard(chosen)
        order.append(chosen)
        turn[chosen] = len(order)
        for operand in graph.operands[chosen]:
            uses[operand] -= 1
        for user in graph.after[chosen]:
            missing[user] -= 1
            if missing[user] == 0:
                (ready if graph.operands[user] else loads).add(user)
    return [texts[number] for number in order]
