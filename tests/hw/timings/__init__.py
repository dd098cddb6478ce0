"""The timing of each component, as its docstring has it."""

from tests.hw.timings.bfs import BFS
from tests.hw.timings.boards import BOARDS
from tests.hw.timings.exchange import EXCHANGE
from tests.hw.timings.intersection import INTERSECTION
from tests.hw.timings.shared import SHARED
from tests.hw.timings.slots import SLOTS
from tests.hw.timings.switch import SWITCH
from tests.hw.timings.timing import Timing

TIMINGS: tuple[Timing, ...] = (*SHARED, *BFS, *SLOTS, *INTERSECTION, *EXCHANGE, *SWITCH, *BOARDS)
