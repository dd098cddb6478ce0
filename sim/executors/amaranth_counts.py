"""What the executor in Amaranth's simulator counts of the kernels, cycle by cycle."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hw.causes import Cause
from hw.config import AcceleratorConfig
from hw.interfaces import FILL_WIDTH
from sim.executors.player import Pins
from sim.executors.samples import MODULES, Samples, fifos, sample_dtype
from sim.named_words import Field, NamedWords, whole_field

__all__ = ["KernelCounts"]


class KernelCounts:
    """The numbers of a row for each AE, and the ring that they are written to.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.

    Attributes
    ----------
    samples : Samples or None
        The ring, once it is recorded.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._now = np.zeros(config.engines, sample_dtype(config))
        self._kernels = {module: getattr(config, f"{module}_kernels") for module in MODULES}
        self._fifos = {module: len(names) for module, names in fifos(config).items()}
        self._idle = np.ones((config.engines, sum(self._kernels.values())), bool)
        for module in MODULES:
            self._now[module]["begun"] = self._now[module]["ended"] = -1
        self.samples: Samples | None = None

    @property
    def causes(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and cause."""
        return np.concatenate([self._now[module]["causes"] for module in MODULES], axis=1)

    def arrive(self, engines: Sequence[Pins]) -> None:
        """Count the tokens that come to a module in this cycle, before the clock's edge."""
        for number, pins in enumerate(engines):
            for module in MODULES:
                self._now["turns"][module][number] += pins.get(f"{module}_arrival")

    def count(self, engines: Sequence[Pins], cycle: int) -> None:
        """Count a cycle, by what registers show after it."""
        for number, pins in enumerate(engines):
            place = 0
            for module, kernels in self._kernels.items():
                for kernel in range(kernels):
                    counts = self._now[module][number, kernel]
                    cause = pins.get(f"cause_{place}")
                    counts["causes"][cause] += 1
                    if self._idle[number, place] != (cause == Cause.IDLE):
                        self._idle[number, place] ^= True
                        counts["ended" if cause == Cause.IDLE else "begun"] = cycle
                    if self.samples is not None:
                        self._count_fill(counts, pins.get(f"{module}_fill_{kernel}"), self._fifos[module])
                    place += 1
        if self.samples is not None and (cycle + 1) % self.samples.interval == 0:
            self.samples.rows[:, (cycle + 1) // self.samples.interval % self.samples.places] = self.sample(cycle + 1)
            for module in MODULES:
                self._now[module]["interval_most"] = 0

    @staticmethod
    def _count_fill(counts: np.void, shown: int, count: int) -> None:
        held = [shown >> FILL_WIDTH * fifo & ((1 << FILL_WIDTH) - 1) for fifo in range(count)]
        counts["fill"] += held
        for name in ("interval_most", "instruction_most"):
            np.maximum(counts[name], held, out=counts[name])

    def sample(self, cycle: int) -> npt.NDArray[np.void]:
        """Return the rows of a cycle."""
        self._now["cycle"] = cycle
        return self._now.copy()

    def begin_instruction_marks(self) -> None:
        """Let ``instruction_most`` begin anew."""
        for module in MODULES:
            self._now[module]["instruction_most"] = 0

    def _places(self) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
        """Yield each number that is saved by its name."""
        for engine in range(len(self._now)):
            for module, kernels in self._kernels.items():
                yield f"engine{engine}.{module}.turns", self._now["turns"][module][engine : engine + 1]
                for kernel in range(kernels):
                    counts = self._now[module][engine, kernel : kernel + 1]
                    for name in counts.dtype.names or ():
                        yield f"engine{engine}.{module}{kernel}.{name}", counts[name].reshape(-1)

    def fields(self) -> list[Field]:
        """Return the fields of what is saved."""
        return [whole_field(name, 64, len(values)) for name, values in self._places()]

    def save(self, state: NamedWords) -> None:
        """Put everything into words."""
        for name, values in self._places():
            state.rows(name)[:, 0] = values.view(np.uint64)

    def load(self, state: NamedWords, cycle: int) -> None:
        """Take everything out of words."""
        for name, values in self._places():
            values[:] = state.rows(name)[:, 0].view(np.int64)
        # A kernel is in the run that began last, or that run has ended.
        runs = [self._now[module]["ended"] >= self._now[module]["begun"] for module in MODULES]
        self._idle = np.concatenate(runs, axis=1)
        if self.samples is not None:
            self.samples.restart(cycle)
