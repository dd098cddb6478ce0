"""The facts of a run, as a table has them."""

from typing import Any

from host.record.reader import Record
from host.runs.overrides import Overrides
from host.runs.specification import run_options
from host.words import counted

__all__ = ["facts", "run_names"]

_OWN_ROWS = ("algorithm", "graph", "config", "memory", "set")
"""Options that the other rows show."""


def facts(record: Record) -> list[tuple[str, str]]:
    """Return what ran and what came out, as names and texts."""
    document = record.document
    run, cycles, result = document["run"], document["cycles"], document["result"]
    options, machine = run["options"], document["machine"]
    config, memory = _machine(options)
    seconds = result["seconds"]
    kernels = ", ".join(f"{count} {module}" for module, count in machine["kernels"].items() if count)
    rows = [
        ("record", str(record.folder)),
        ("graph", f"{run['graph']}: {counted(run['vertices'], 'vertex', 'vertices')}, {counted(run['edges'], 'edge')}"),
        ("command", _command(document["command"], options)),
        ("machine", f"{config}: {counted(machine['engines'], 'AE')}, kernels of each: {kernels}"),
        ("memory", memory),
        ("simulated time", f"{seconds * 1e3:,.3f} ms at {document['clock_hz'] / 1e6:g} MHz"),
        ("cycles of the run", f"{result['cycles']['total']:,}"),
        (
            "cycles simulated",
            f"{cycles['total']:,}: instructions {cycles['instructions']:,}, host {cycles['host']:,}, "
            f"restarted {cycles['restarted']:,}, reading out {cycles['readout']:,}",
        ),
        ("throughput", f"{result['gteps']:.3f} GTEPS ({counted(result['edges_traversed'], 'edge')} traversed)"),
        *_found(result),
        ("intervals", counted(record.interval, "cycle")),
        ("version", f"cyscc {document['version']}"),
    ]
    return [(name, text) for name, text in rows if text]


def _machine(options: dict[str, Any]) -> tuple[str, str]:
    """Return configuration and memory, with what was changed in them."""
    changes = Overrides.of(options.get("set", {}))
    return changes.config_text(str(options["config"])), changes.memory_text(str(options["memory"]))


def _command(command: str, options: dict[str, Any]) -> str:
    """Return the command with the options that decide about its result, besides those that have rows of their own."""
    words = ["cyscc", command]
    for option in run_options(command).values():
        value = options.get(option.name)
        if option.decides and option.name not in _OWN_ROWS and value is not None and value is not False:
            words += [option.flag] if value is True else [option.flag, str(value)]
    return " ".join(words)


def _found(result: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if "components" in result:
        rows.append(
            ("components", f"{result['components']['count']:,}, in {counted(result['iterations'], 'iteration')}")
        )
    rows.append(("verified", "yes" if result["verified"] else "not checked"))
    return rows


def run_names(records: list[Record]) -> list[str]:
    """Return what each run is called: by what it differs in from the others, or by its folder."""
    if len(records) == 1:
        return [records[0].folder.name or str(records[0].folder)]
    runs = [record.document["run"] for record in records]
    options = [
        dict(zip(("graph", "config", "memory"), (run["graph"], *_machine(run["options"])), strict=True)) for run in runs
    ]
    differing = [name for name in ("graph", "config", "memory") if len({each[name] for each in options}) > 1]
    names = [", ".join(each[name] for name in differing) for each in options]
    if len(set(names)) < len(names) or not differing:
        names = [str(record.folder) for record in records]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return names
