"""Settings of recorded runs that can change their cycles, and where they differ."""

from collections.abc import Mapping, Sequence
from typing import Any

from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import MEMORY, Overrides
from cyscc.host.specification.run import run_options
from cyscc.sim.memory import Profile, profile_from

INPUTS = ("graph", "source")
"""Settings that say what a run works on; all others are of the machine and the way that it is used."""

_OTHERWISE = ("config", "memory", "set")
"""Options that stand in a record as the configuration and the memory profile, value by value."""
_LINKED = "link_cycles"
"""Field of the configuration that only machines of several AEs use."""


def settings_of(record: Record) -> dict[str, Any]:
    """Return the settings that can change a run's cycles, by the names of options and overrides.

    The parameters of a machine that the run does not use are left out: those of intersection kernels in a single
    search, of links in a machine of one AE.
    """
    document = record.document
    run, options, config = document["run"], document["run"]["options"], dict(document["configuration"])
    if document["command"] == "bfs":
        unused = {fifo["parameter"] for fifo in record.machine["fifos"]["intersection"]} | {"intersection_kernels"}
        config = {name: value for name, value in config.items() if name not in unused}
    if config["engines"] == 1:
        config.pop(_LINKED, None)
    memory = dict(document["memory_profile"])
    return {
        "command": document["command"],
        "graph": f"{run['graph']} ({run['vertices']:,} vertices, {run['edges']:,} edges, {run['digest'][:8]})",
        **{
            option.name: options.get(option.name)
            for option in run_options(document["command"]).values()
            if option.affects_result and option.name not in ("algorithm", "graph", *_OTHERWISE)
        },
        **config,
        "memory": memory.pop("profile", None),
        **{f"{MEMORY}{name}": value for name, value in memory.items()},
        "program": f"{document['version']} ({document['program'][:8]})",
    }


def recorded_profile(described: Mapping[str, Any]) -> Profile | None:
    """Return the memory profile that a record describes; None if it is not known, as its rules are the user's."""
    try:
        return profile_from({name: value for name, value in described.items() if name != "source"})
    except ValueError:
        return None


def machine_text(record: Record) -> str:
    """Return the name of a run's machine, with the settings that were changed."""
    options = record.document["run"]["options"]
    return Overrides.of(options.get("set", {})).config_text(str(options["config"]))


def memory_text(record: Record) -> str:
    """Return the name of a run's memory, with the settings that were changed."""
    options = record.document["run"]["options"]
    return Overrides.of(options.get("set", {})).memory_text(str(options["memory"]))


def settings_that_differ(records: Sequence[Record]) -> dict[str, list[Any]]:
    """Return the settings that all runs have and in which they differ, by name, with the value of each run.

    Memories of different profiles are named, not compared by parameter.
    """
    every = [settings_of(record) for record in records]
    profiles = {each["memory"] for each in every}
    if len(profiles) > 1:
        for record, each in zip(records, every, strict=True):
            each["memory"] = memory_text(record)
    names = [name for name in every[0] if all(name in each for each in every)]
    if len({record.document["run"]["digest"] for record in records}) == 1:
        names.remove("graph")  # one graph, whatever its file is called
    if len(profiles) > 1:
        names = [name for name in names if not name.startswith(MEMORY)]
    values = {name: [each[name] for each in every] for name in names}
    return {name: its for name, its in values.items() if any(value != its[0] for value in its)}
