"""What the hardware's parts publish of their pace, for those who reach the hardware only through the simulator."""

from hw.accelerator import ring_turn
from hw.bfs import Kernel
from hw.module_master import ModuleMaster
from hw.queue import Queue
from hw.request_mux import RequestMux

__all__ = [
    "LAUNCH_CYCLES",
    "MUX_CYCLES",
    "QUEUE_CYCLES",
    "QUEUE_REGISTERS",
    "READS_PER_EDGE",
    "READS_PER_ENTRY",
    "WRITES_PER_VISIT",
    "ring_turn",
]

LAUNCH_CYCLES = ModuleMaster.launch_cycles(Kernel.PARAMETERS)
"""From the beginning of a level until its token starts."""

MUX_CYCLES = RequestMux.LATENCY
"""From a request's grant to the memory port."""

QUEUE_CYCLES = Queue.LATENCY
"""Least time of an entry in a queue."""

QUEUE_REGISTERS = Queue.REGISTERS
"""Entries that a queue holds beyond its depth."""

READS_PER_ENTRY = Kernel.READS_PER_ENTRY
"""Reads of a queue entry."""

READS_PER_EDGE = Kernel.READS_PER_EDGE
"""Reads of an edge."""

WRITES_PER_VISIT = Kernel.WRITES_PER_VISIT
"""Writes of a pushed vertex."""
