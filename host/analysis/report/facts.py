"""Facts about runs, as a page states them: command, graph, machine, memory, result, versions, computer."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cyscc.host.analysis.explain.settings import recorded_profile, settings_that_differ
from cyscc.host.output.text import bytes_text, count_text
from cyscc.host.record.display import cycles_text, graph_size, result_facts
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import MEMORY, Overrides, toml_text
from cyscc.host.specification.run import RECORD_INTERVAL, run_options
from cyscc.sim.configuration import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.memory import parse_profile
from cyscc.sim.notices import printable

Fact = tuple[str, list[str]]
"""A row of a table of facts: its name, and its text for each run; a single text is that of all runs."""

_DIGITS = 16
"""Digits of a digest that are shown."""
_IN_ROWS = ("command", "graph", "program", "memory")
"""Settings that have rows of their own."""
_MADE_OF = ("algorithm", "graph", "set", "checkpoint_every")
"""Stored options that are not repeated as they are: parts of the command, or without effect on their own."""
_USUAL = (("executor", EXECUTORS[0]), ("record_interval", RECORD_INTERVAL))
"""Options and their defaults, which a command does not name."""
_BUILT_IN = re.compile(r"[a-z0-9]+(:[0-9]+)?")
"""Text of a memory profile that is no file."""
_STEPS = ("load", "build", "simulate", "record", "verify")
"""Steps of a run whose real time a result has."""
_NOT_PARAMETERS = ("profile", "source")


def _changes(values: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ from those of a preset."""
    return {name: value for name, value in values.items() if name in base and value != base[name]}


def _against(kind: str, name: str, values: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """Return a preset or profile and what is changed of it: ``hc2 with word_depth = 64 (preset: 128)``."""
    changes = [
        f"{key} = {toml_text(value)} ({kind}: {toml_text(base[key])})" for key, value in _changes(values, base).items()
    ]
    return f"{name} with {', '.join(changes)}" if changes else f"{name}, unchanged"


def _preset(configuration: Mapping[str, Any], name: str) -> str:
    """Return the preset of a configuration: the most similar one, if it is from a file or a program."""
    return name if name in PRESETS else min(PRESETS, key=lambda each: len(_changes(configuration, _fields_of(each))))


def _fields_of(preset: str) -> dict[str, Any]:
    return asdict(PRESETS[preset])


def _parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters of a memory profile of the program; none of a file's, or if there is no such profile."""
    try:
        return asdict(parse_profile(name)) if _BUILT_IN.fullmatch(name) else {}
    except ValueError:
        return {}


def _memory_name(parameters: Mapping[str, Any], name: str) -> str:
    """Return the name of a memory with the value that its profile needs, which a program may have left out."""
    if not _BUILT_IN.fullmatch(name) or _parameters_of(name):
        return name
    return str(recorded_profile(parameters) or name)


def against_preset(configuration: Mapping[str, Any], name: str) -> str:
    """Return what a configuration changes of its preset; of the most similar one, if it has none."""
    preset = _preset(configuration, name)
    return _against("preset", preset, configuration, _fields_of(preset))


def against_profile(parameters: Mapping[str, Any], name: str) -> str:
    """Return what a memory changes of its profile; all its parameters, if the profile is none of the program's own."""
    named = name if _BUILT_IN.fullmatch(name) else str(parameters.get("profile"))
    if base := _parameters_of(named):
        return _against("profile", named, parameters, base)
    values = [f"{key} = {toml_text(value)}" for key, value in parameters.items() if key not in _NOT_PARAMETERS]
    return f"{named}: {', '.join(values)}"


def _machine_facts(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about the machine of a run and its memory."""
    options, configuration = document["run"]["options"], document["configuration"]
    changes, parameters = Overrides.of(options.get("set", {})), document["memory_profile"]
    machine = document["machine"]
    kernels = ", ".join(f"{count} {module}" for module, count in machine["kernels"].items() if count)
    memory = _memory_name(parameters, str(options["memory"]))
    return {
        "machine": f"{changes.config_text(str(options['config']))}: {count_text(machine['engines'], 'AE')}, "
        f"kernels of each: {kernels}, {document['clock_hz'] / 1e6:g} MHz",
        "preset": against_preset(configuration, str(options["config"])),
        "memory": changes.memory_text(memory),
        "profile": against_profile(parameters, memory),
    }


def _command(record: Record) -> str:
    """Return the whole command, with all options of the run that are not as they are by default."""
    document = record.document
    options, settings = dict(document["run"]["options"]), dict(document["run"]["options"].get("set", {}))
    # A program may give a machine or a memory that has no name.
    if not str(options["config"]).endswith(".toml"):
        options["config"] = _preset(document["configuration"], str(options["config"]))
        settings |= _changes(document["configuration"], _fields_of(options["config"]))
    options["memory"] = _memory_name(document["memory_profile"], str(options["memory"]))
    changes = _changes(document["memory_profile"], _parameters_of(options["memory"]))
    settings |= {f"{MEMORY}{name}": value for name, value in changes.items()}
    words = ["cyscc", document["command"], document["run"]["graph"]]
    for option in run_options(document["command"]).values():
        value = options.get(option.name)
        if not option.stored or option.name in _MADE_OF or value is None or value is False:
            continue
        if (option.name, value) in _USUAL:
            continue
        words += [option.flag] if value is True else [option.flag, str(value)]
    for name, value in settings.items():
        words += ["--set", f"{name}={toml_text(value)}"]
    if options.get("threads") is not None:
        words += ["--threads", str(options["threads"])]
    if record.interrupted is None and record.result["verified"] is None:
        words.append("--no-verify")
    return shlex.join(words)


def version_text(document: Mapping[str, Any]) -> str:
    """Return the versions that a document states: of the program, its sources, and Python."""
    text = f"cyscc {document['version']}, program {document['program'][:_DIGITS]}"
    python = document.get("environment", {}).get("python")
    return f"{text}, Python {python}" if python else text


def origin_facts(record: Record) -> dict[str, str]:
    """Return how a record was made: the whole command, the folder that it ran in, and the versions."""
    document = record.document
    text = f"{_command(record)}, in {document['run']['folder']}; {version_text(document)}"
    return {"made by": printable(text)}


def computer_text(environment: Mapping[str, str]) -> str:
    """Return processor and system of an environment; empty where a record has none."""
    return ", ".join(filter(None, (environment.get("processor"), environment.get("system"))))


def _wall_text(record: Record) -> str:
    """Return the real time that the run took; empty where the record does not have it."""
    wall = None if record.interrupted is not None else record.result.get("wall")
    # Nothing has checked these fields of a result.
    taken = {
        name: value for name, value in (wall if isinstance(wall, dict) else {}).items() if type(value) in (int, float)
    }
    parts = [f"{name} {taken[name]:,.1f} s" for name in _STEPS if name in taken]
    if "peak_memory_bytes" in taken:
        parts.append(f"{bytes_text(taken['peak_memory_bytes'])} of memory")
    return ", ".join(parts)


def run_facts(record: Record) -> dict[str, str]:
    """Return the facts about a run and its result, as texts by name."""
    document = record.document
    run, options = document["run"], document["run"]["options"]
    result, environment = result_facts(document), document.get("environment", {})
    threads = options.get("threads")
    simulated_by = f"executor {options['executor']}" + (
        f", {count_text(threads, 'thread')}" if type(threads) is int else ""
    )
    facts = {
        "record": str(record.folder),
        "part" if record.part else "interrupted" if record.failed is None else "failed": record.ending,
        "command": _command(record),
        "in folder": run["folder"],
        "graph": f"{run['graph']}: {graph_size(run)}",
        "digest of the graph": f"SHA-256 {run['digest'][:_DIGITS]}",
        **_machine_facts(document),
        **result,
        "cycles simulated": cycles_text(record),
        "intervals": count_text(record.interval, "cycle"),
        "version": version_text(document),
        "simulated by": simulated_by,
        "wall time": _wall_text(record),
        "date": environment.get("date", ""),
        "computer": computer_text(environment),
    }
    return {name: printable(text) for name, text in facts.items() if text}


def shared_facts(records: Sequence[Record]) -> list[Fact]:
    """Return the facts about some runs: equal ones once, others side by side, with the settings that differ."""
    tables = [run_facts(record) for record in records]
    order = list(dict.fromkeys(name for table in tables for name in table))
    rows = [(name, [table.get(name, "") for table in tables]) for name in order]
    differing = settings_that_differ(records) if len(records) > 1 else {}
    settings = [
        (printable(name), [printable(toml_text(value)) if value is not None else "" for value in values])
        for name, values in differing.items()
        if name not in _IN_ROWS
    ]
    place = order.index("profile") + 1
    rows[place:place] = settings
    return [(name, texts[:1] if len(set(texts)) == 1 else texts) for name, texts in rows]


def run_names(records: Sequence[Record]) -> list[str]:
    """Return the names of the runs, as sentences have them: the folders of their records."""
    if len(records) == 1:
        return [printable(records[0].folder.name or str(records[0].folder))]
    names = [printable(str(record.folder)) for record in records]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return names
