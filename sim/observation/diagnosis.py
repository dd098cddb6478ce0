"""Diagnosis of a hung machine as text."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from amaranth.lib import data

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.registers import Register, kernel_register
from cyscc.sim.memory import Memory

_MOST_KERNELS = 12

Reader = Callable[[list[int]], npt.NDArray[np.uint64] | None]


def diagnose(config: AcceleratorConfig, memory: Memory, read: Reader) -> str:
    """Return lines on the kernels that are not done, with their processes, credits and reservations.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        For the reads in flight.
    read : callable
        Reads registers of every AE; returns None if the machine does not answer.
    """
    lines = []
    status = read([Register.STATUS, Register.CYCLES])
    if status is None:
        return "the register interface does not answer"
    for engine in range(config.engines):
        busy = "busy" if int(status[0, engine]) & 1 else "idle"
        lines.append(f"engine {engine}: {busy}, {int(status[1, engine]):,} cycles since its dispatch")
    stuck = 0
    kernels = [("bfs", n, BfsKernel.WORDS) for n in range(config.bfs_kernels)]
    kernels += [("intersection", n, IntersectionKernel.WORDS) for n in range(config.intersection_kernels)]
    for place, (module, number, words) in enumerate(kernels):
        answers = read([kernel_register(place, word) for word in words])
        if answers is None:
            lines.append(f"{module} kernel {number}: the control chain does not answer")
            continue
        for engine in range(config.engines):
            values = [int(value) for value in answers[:, engine]]
            fields = [layout.from_bits(value) for layout, value in zip(words.values(), values, strict=True)]
            if not fields[0].started:
                continue
            stuck += 1
            if stuck <= _MOST_KERNELS:
                told = "; ".join(
                    _tell(word.name.lower(), layout, field)
                    for (word, layout), field in zip(words.items(), fields, strict=True)
                )
                lines.append(f"engine {engine} {module} kernel {number}: {told}")
    if stuck > _MOST_KERNELS:
        lines.append(f"and {stuck - _MOST_KERNELS} kernels more")
    if not stuck:
        lines.append("every kernel is done: the token or an engine's master is awaited")
    lines += [
        f"engine {ae} port {port}: {reads} read{'s' * (reads != 1)} outstanding"
        for ae, port, reads in memory.outstanding()[:8]
    ]
    return "\n".join(lines)


def _tell(name: str, layout: data.StructLayout, value: data.Const) -> str:
    return f"{name} " + " ".join(f"{field}={int(value[field])}" for field in layout.members)
