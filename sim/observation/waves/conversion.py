"""Conversion of a window of a simulator's own VCD file to a waveform file, in Python."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir

from cyscc.sim.files import temporary_file
from cyscc.sim.notices import notice
from cyscc.sim.observation.waves.files import Waves
from cyscc.sim.observation.waves.variables import Variable

__all__ = ["Conversion"]

_PATIENCE = 1.0
"""Most seconds for writing the waveforms of an interrupted run."""


class Conversion:
    """A simulator's own VCD file, converted to a waveform file at the end of the run.

    Parameters
    ----------
    waves : Waves
        The file.
    cycle_of : callable
        Converts a time of the simulator's file to a cycle.

    Attributes
    ----------
    raw : Path
        Target file of the simulator.

    Raises
    ------
    cyscc.sim.errors.SimulationError
        It cannot be created.
    """

    def __init__(self, waves: Waves, *, cycle_of: Callable[[int], int]) -> None:
        self._waves = waves
        self._cycle_of = cycle_of
        self._files = ExitStack()
        try:
            self.raw = self._files.enter_context(temporary_file(Path(gettempdir(), "cyscc.vcd")))
        except OSError as error:
            waves.discard()
            raise waves.refusal(error) from None

    def finish(self, cycles: int) -> None:
        """Write the waveform file from the simulator's complete file.

        There is none if no cycle of the window was simulated. During an interrupt this takes at most a second: the file
        then ends at an earlier cycle, with a notice.

        Parameters
        ----------
        cycles : int
            Cycles that were simulated.

        Raises
        ------
        cyscc.sim.errors.SimulationError
            The file cannot be written.
        """
        until = time.monotonic() + _PATIENCE if isinstance(sys.exception(), KeyboardInterrupt) else None
        with self._files:
            try:
                end = cycles
                if cycles > self._waves.window[0]:
                    end = self._convert(cycles, until)
            except BaseException:
                self._waves.discard()
                raise
            self._waves.finish(end)
        if until is not None and end < min(cycles, self._waves.window[1] + 1):
            cut = f"cut at cycle {end:,} of {cycles:,}" if end > self._waves.window[0] else "not written"
            notice(f"{self._waves.named}: {cut}, since the run was interrupted")

    def _convert(self, cycles: int, until: float | None) -> int:
        """Convert the values.

        Writes all values at the first cycle of the window, then the changes. Of several changes in a cycle, the last
        one counts. Times in the file are cycles.

        Parameters
        ----------
        cycles : int
            Cycles that were simulated.
        until : float, optional
            Monotonic clock time at which to stop, after a whole cycle.

        Returns
        -------
        int
            The cycle up to which values were written; the first one of the window if none were.
        """
        try:
            with self.raw.open("rb") as raw:
                return self._convert_lines(iter(raw), cycles, until)
        except OSError as error:
            raise self._waves.refusal(error) from None

    def _convert_lines(self, lines: Iterator[bytes], cycles: int, until: float | None) -> int:
        first, last = self._waves.window
        writer, variables = self._waves.begin(lines)
        targets: dict[bytes, dict[int, Variable]] = {}
        for variable in variables:
            targets.setdefault(variable.source, {}).setdefault(variable.number, variable)
        changed: dict[bytes, bytes] = {}
        shown: dict[bytes, bytes] = {}

        def show(cycle: int) -> None:
            changes = [
                (target, value)
                for key, value in changed.items()
                if shown.get(key) != value
                for target in targets[key].values()
            ]
            shown.update(changed)
            changed.clear()
            if changes:
                writer.show(cycle, changes)

        now = 0
        for line in lines:
            kind = line[:1]
            if kind == b"#":
                cycle = self._cycle_of(int(line[1:]))
                if cycle > now:
                    if cycle > first:
                        show(max(now, first))
                    now = cycle
                    if now > last:
                        break
                    if until is not None and time.monotonic() > until:
                        return now if shown else first
                continue
            if kind in b"01xz":
                value, key = kind, line[1:].strip()
            elif kind in b"bs":
                value, key = line.split()
            else:
                continue
            if key in targets:
                changed[key] = value
        end = min(cycles, last + 1)
        if first < end > now:
            show(max(now, first))
        return end if shown else first
