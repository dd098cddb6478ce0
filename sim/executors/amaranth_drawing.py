"""Waveforms of an accelerator in Amaranth's simulator, written while it runs."""

from typing import Any

from amaranth.sim import Simulator

from cyscc.sim.observation.waves import Waves
from cyscc.sim.observation.waves.signals import accelerator_signals
from cyscc.sim.observation.waves.variables import Variable


class AmaranthDrawing:
    """Waveform output of an accelerator; begins the file.

    Parameters
    ----------
    simulator : Simulator
        The simulator.
    waves : Waves
        The file.

    Raises
    ------
    cyscc.sim.errors.OutputError
        The file cannot be written.
    """

    def __init__(self, simulator: Simulator, waves: Waves) -> None:
        state = simulator._engine._state
        # What the simulator has of each signal, and the variables of its bits from some one up.
        self._signals: dict[int, tuple[Any, list[tuple[int, Variable]]]] = {}
        variables: list[Variable] = []
        for shown in accelerator_signals(simulator._design):
            if shown.path in waves.scopes:
                variable = Variable(number=len(variables), path=shown.path, width=shown.width, names=shown.names)
                variables.append(variable)
                place = state.get_signal(shown.signal)
                _, its = self._signals.setdefault(place, (state.slots[place], []))
                its.append((shown.first, variable))
        self._waves = waves
        self._before: list[int] | None = None
        try:
            self._writer = waves.begin(variables)
        except BaseException:
            waves.discard()
            raise

    def show(self, cycle: int) -> None:
        """Write what has changed since the cycle before, if a cycle is in the window.

        Raises
        ------
        cyscc.sim.errors.OutputError
            The file cannot be written.
        """
        first, last = self._waves.window
        if not first <= cycle <= last:
            return
        now = [int(signal.curr) for signal, _ in self._signals.values()]
        before = self._before or [~value for value in now]
        self._before = now
        changes = [
            (variable, value >> first & ((1 << variable.width) - 1))
            for value, other, (_, variables) in zip(now, before, self._signals.values(), strict=True)
            if value != other
            for first, variable in variables
            if (value ^ other) >> first & ((1 << variable.width) - 1)
        ]
        if not changes:
            return
        try:
            self._writer.show(cycle, changes)
        except OSError as error:
            raise self._waves.refusal(error) from None
