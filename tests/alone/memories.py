"""Memories of random contents, which answer at a component's ports."""

from collections import deque
from collections.abc import Mapping

from cyscc.hw.bfs.tags import Tag
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import TAG_BITS, read_request, response
from tests.alone.stimuli import Ports, Stimuli, field_of, number_of, packed

_IDS = (0, 0, 0, 1, 2, 5)
"""Frequent values: of neighbours, so that some repeat, and of colours, so that many vertices have none."""


class Memory:
    """Answers the reads of a port in their order, and a flush.

    Parameters
    ----------
    stimuli : Stimuli
        Whose inputs it changes.
    port : str
        Beginning of the port's names.
    """

    def __init__(self, stimuli: Stimuli, port: str) -> None:
        self._stimuli = stimuli
        self._port = port
        self._tag_bits = stimuli.inputs[f"{port}_response_payload"] - 64
        self._tags: deque[int] = deque()
        self.searching = True
        """Whether reads are those of a BFS kernel."""
        self.most_neighbours = 0
        """Of vertices that are not visited, where those of many would take too long; 0 if they do not."""
        self._flush = 0

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        """Answer."""
        port = self._port
        if before.get(f"{port}_read_valid") and before[f"{port}_read_ready"]:
            self._tags.append(field_of(read_request(self._tag_bits), before[f"{port}_read_payload"], "tag"))
        now[f"{port}_response_valid"] &= bool(self._tags)
        if now[f"{port}_response_valid"]:
            tag = self._tags.popleft()
            now[f"{port}_response_payload"] = packed(response(self._tag_bits), tag=tag, data=self._data(tag))
        if before.get(f"{port}_flush"):
            self._flush = self._stimuli.random.randrange(2, 7)
        self._flush = max(self._flush - 1, 0)
        now[f"{port}_flushed"] = int(self._flush == 1)

    def _data(self, tag: int) -> int:
        draw = self._stimuli.random
        if self._tag_bits != TAG_BITS:
            # Behind a switch nothing tells what is read: a word of few neighbours, ids of which the low one is small.
            start = draw.choice(_IDS) if draw.random() < 0.5 else self._stimuli.field(32)
            return packed(GraphWord, start=start, degree=draw.randrange(7), visited=draw.randrange(2))
        if tag == number_of(Tag.FRONTIER_WORD) and self.searching:
            return packed(GraphWord, start=self._stimuli.field(32), degree=draw.randrange(5), visited=1)
        if tag == number_of(Tag.NEIGHBOUR_ID) and draw.random() < 0.6:
            return draw.choice(_IDS)
        if tag == number_of(Tag.NEIGHBOUR_WORD) and self.most_neighbours:
            degree, visited = draw.randrange(self.most_neighbours + 1), draw.random() < 0.7
            return packed(GraphWord, start=self._stimuli.field(32), degree=degree, visited=visited)
        # Words have neighbours or have none; and a few are visited.
        words = self._stimuli.field(64) & (~0xFFFF_FFFE if draw.random() < 0.3 else -1)
        return words & (~1 if draw.random() < 0.5 else -1)


class AnyMemory(Memory):
    """Answers with any data."""

    def _data(self, tag: int) -> int:
        return self._stimuli.field(64)
