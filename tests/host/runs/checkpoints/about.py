"""Metadata of checkpoints."""

from cyscc.host.runs.checkpoints.folder import About, Identity


def about_of(cycle: int, *, seconds: float = 0.0) -> About:
    identity = Identity(graph="", configuration={}, memory={}, options={})
    return About(cycle=cycle, program="", folder="", options={}, seconds=seconds, identity=identity)
