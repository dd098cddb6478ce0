"""Waveform files, written atomically, with format, window, scopes and views; conversion of a simulator's own."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir

from cyscc.sim.errors import OutputError
from cyscc.sim.files import temporary_file
from cyscc.sim.notices import notice
from cyscc.sim.observation.waves.signals import Locate
from cyscc.sim.observation.waves.variables import Scopes, Variable, read_head
from cyscc.sim.observation.waves.views import Focus, View, own_views, write_views
from cyscc.sim.observation.waves.writer import FstWriter, VcdWriter, WaveWriter

ENDLESS = 1 << 62
"""Last cycle of an unbounded window."""

FORMATS: dict[str, type[VcdWriter] | type[FstWriter]] = {".vcd": VcdWriter, ".fst": FstWriter, "": VcdWriter}
"""Writers by file suffix."""


class Waves:
    """A waveform file under construction.

    Parameters
    ----------
    output : pathlib.Path
        The file, or a link to it; it appears, complete, with `finish`. Its suffix selects
        the format.
    window : tuple of int, optional
        First and last cycle to show; all by default.
    scopes : sequence of str
        Globs over dotted paths that select signals; all by default.
    view : bool
        Write views for viewers beside it.

    Attributes
    ----------
    focus : Focus or None
        What the views show first.
    window : tuple of int
        First and last cycle to show.
    named : pathlib.Path
        The file as given.
    scopes : Scopes
        The selection.

    Raises
    ------
    ValueError
        The suffix is unknown.
    cyscc.sim.errors.OutputError
        The folder cannot be written.
    """

    def __init__(
        self,
        output: Path,
        window: tuple[int, int] | None,
        *,
        scopes: Sequence[str] = (),
        view: bool = False,
    ) -> None:
        if output.suffix not in FORMATS:
            raise ValueError(f"{output}: waveforms end in {' or '.join(filter(None, FORMATS))}")
        self.scopes = Scopes(scopes)
        self.window = window or (0, ENDLESS)
        self._view = view
        self.focus: Focus | None = None
        self.named = output
        self._output = output.resolve()
        # A device or a pipe cannot have temporary files beside it.
        self._in_place = self._output.exists() and not self._output.is_file()
        self._files = ExitStack()
        self._writer: WaveWriter | None = None
        self._variables: Sequence[Variable] = ()
        beside = Path(gettempdir(), f"cyscc{output.suffix}") if self._in_place else self._output
        try:
            if view:
                # Refuse names that are too long before anything runs.
                for path in own_views(self._output):
                    path.exists()
            self._path = self._files.enter_context(temporary_file(beside))
        except OSError as error:
            raise self.refusal(error) from None

    def begin(self, variables: Sequence[Variable]) -> WaveWriter:
        """Begin the file with the variables that it shows; return the writer of the window's values.

        Raises
        ------
        cyscc.sim.errors.OutputError
            The file cannot be written.
        """
        self._variables = variables
        try:
            self._writer = FORMATS[self._output.suffix](self._path)
            self._files.callback(self._writer.discard)
            self._writer.declare(self._variables)
        except OSError as error:
            raise self.refusal(error) from None
        return self._writer

    def finish(self, cycles: int) -> None:
        """Complete the file after all values of the window were written. Without any values, there is no file.

        Parameters
        ----------
        cycles : int
            Cycles that were simulated, or fewer if fewer were written.

        Raises
        ------
        cyscc.sim.errors.OutputError
            The file cannot be written.
        """
        first, last = self.window
        try:
            if self._writer is None or cycles <= first:
                return
            self._writer.finish(min(cycles, last + 1))
            if self._in_place:
                with self._path.open("rb") as complete, self._output.open("wb") as output:
                    shutil.copyfileobj(complete, output)
                return
            if self._view:
                end = min(cycles, last + 1)
                write_views(self._output, View.of(self._output.name, self._variables, (first, end), self.focus))
            self._path.replace(self._output)
        except OSError as error:
            raise self.refusal(error) from None
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove an incomplete file."""
        self._files.close()

    def refusal(self, error: OSError) -> OutputError:
        """Return the error for a file that cannot be written."""
        return OutputError(f"{self.named}: {error.strerror}: the waveforms cannot be written")


_PATIENCE = 1.0
"""Most seconds for writing the waveforms of an interrupted run."""


class Conversion:
    """A simulator's own VCD file, converted to a waveform file at the end of the run.

    Parameters
    ----------
    waves : Waves
        The file.
    locate : Locate
        Maps a variable of the simulator's file to its path.
    cycle_of : callable
        Converts a time of the simulator's file to a cycle.

    Attributes
    ----------
    raw : Path
        Target file of the simulator.

    Raises
    ------
    cyscc.sim.errors.OutputError
        It cannot be created.
    """

    def __init__(self, waves: Waves, *, locate: Locate, cycle_of: Callable[[int], int]) -> None:
        self._waves = waves
        self._locate = locate
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
        cyscc.sim.errors.OutputError
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
        found = read_head(lines, self._locate, self._waves.scopes)
        writer = self._waves.begin([variable for _, variable in found])
        targets: dict[bytes, dict[int, Variable]] = {}
        for source, variable in found:
            targets.setdefault(source, {}).setdefault(variable.number, variable)
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
