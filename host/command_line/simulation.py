"""What the commands that simulate share: options checked beforehand, results published."""

import argparse
from pathlib import Path
from typing import Any

from host.command_line.outputs import check_outputs
from host.options import UsageError, changes, configuration, memory_profile
from host.output import STANDARD_OUTPUT
from host.progress import Progress
from host.results.documents import publish
from host.runs.session import RunOptions, Session

__all__ = ["Simulation"]


class Simulation:
    """A simulation that the command line asks for.

    Its options are checked on construction, before anything takes long.

    Parameters
    ----------
    arguments : argparse.Namespace
        The graph and the options of `host.options.add_machine_options`.
    outputs : dict of str to (str or None)
        Output file of each option besides ``--json`` and ``--waves``.

    Attributes
    ----------
    session : Session
        The run in the making.

    Raises
    ------
    UsageError, InputError
        Options that make no sense, outputs that cannot be written.
    """

    def __init__(self, arguments: argparse.Namespace, outputs: dict[str, str | None]) -> None:
        self._arguments = arguments
        for option, given in (
            ("--wave-window", arguments.wave_window is not None),
            ("--scope", arguments.scope),
            ("--wave-view", arguments.wave_view),
        ):
            if given and arguments.waves is None:
                raise UsageError(f"{option} needs --waves")
        self._outputs = {**outputs, "--json": arguments.json, "--waves": arguments.waves, "--trace": arguments.trace}
        self._check_outputs()
        changed = changes(arguments.changes, memory=True)
        options = RunOptions(
            graph=str(arguments.graph),
            config=configuration(arguments.config, changed),
            config_name=arguments.config,
            memory=memory_profile(arguments.memory, changed),
            memory_name=arguments.memory,
            changes=changed,
            executor=arguments.executor,
            threads=arguments.threads,
            simplify=arguments.simplify,
            verify=not arguments.no_verify,
            cycle_limit=arguments.cycle_limit,
            queue_slack=arguments.queue_slack,
            waves=None if arguments.waves is None else Path(arguments.waves),
            wave_window=arguments.wave_window,
            scopes=tuple(arguments.scope),
            wave_view=arguments.wave_view,
        )
        self.session = Session(options, Progress(quiet=arguments.quiet))

    def _check_outputs(self) -> None:
        if self._arguments.waves == STANDARD_OUTPUT:
            raise UsageError("--waves needs a file")
        if self._arguments.waves is not None and Path(self._arguments.waves).suffix not in ("", ".vcd", ".fst"):
            raise UsageError(f"--waves writes FST and VCD files, which end in .fst or .vcd: {self._arguments.waves}")
        check_outputs(self._outputs, others={"the graph": str(self._arguments.graph)})

    def publish(self, document: dict[str, Any], table: str) -> None:
        """Write the result where it was asked for; the table only if nothing else goes to standard output."""
        quiet = self._arguments.quiet or STANDARD_OUTPUT in self._outputs.values()
        publish(document, table, path=self._arguments.json, quiet=quiet)
