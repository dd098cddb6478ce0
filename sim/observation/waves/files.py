"""Waveform files, written atomically, with format, window, scopes and views."""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir

from cyscc.sim.errors import OutputError
from cyscc.sim.files import temporary_file
from cyscc.sim.observation.waves.variables import Scopes, Variable
from cyscc.sim.observation.waves.views import Focus, View, own_views, write_views
from cyscc.sim.observation.waves.writer import FstWriter, VcdWriter, WaveWriter

ENDLESS = 1 << 62
"""Last cycle of an unbounded window."""

FORMATS: dict[str, type[WaveWriter]] = {".vcd": VcdWriter, ".fst": FstWriter, "": VcdWriter}
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

    def finish(self, begun: int, cycles: int) -> None:
        """Complete the file after all values of the window were written. Without any values, there is no file.

        Parameters
        ----------
        begun : int
            First cycle that was simulated.
        cycles : int
            Cycles up to the end of the run.

        Raises
        ------
        cyscc.sim.errors.OutputError
            The file cannot be written.
        """
        first, last = self.window
        try:
            if self._writer is None or cycles <= max(begun, first) or begun > last:
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
