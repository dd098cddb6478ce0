"""The algorithms for maximal end components by name, and a run of one with its time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from host.algorithms.mec.basic import basic
from host.algorithms.mec.decomposition import MecDecomposition
from host.algorithms.mec.parallel import parallel
from host.algorithms.mec.warming import small_mdp
from host.algorithms.names import MEC_KINDS
from host.algorithms.software.decomposition import Setting, unwatched
from host.algorithms.software.fbt import decompose_regions
from host.mdp.model import Mdp

__all__ = ["ALGORITHMS", "MecRun", "run_mec"]


ALGORITHMS: dict[str, Callable[[Mdp, Setting], MecDecomposition]] = {
    "basic": lambda mdp, setting: basic(mdp, watch=setting.watch),
    "parallel": lambda mdp, setting: parallel(mdp, setting, decompose_regions),
}
"""By name, each of `host.algorithms.names.MEC_KINDS`: takes a Markov decision process, and how to run."""


@dataclass(frozen=True, kw_only=True)
class MecRun:
    """A run of one algorithm.

    Parameters
    ----------
    algorithm : str
        Its name.
    device : str
        Name of the device.
    threads : int
        Threads of the processor that it used.
    found : MecDecomposition
        What it found.
    seconds : float
        Time of the algorithm alone: the model is there, and everything is compiled.
    """

    algorithm: str
    device: str
    threads: int
    found: MecDecomposition
    seconds: float


def run_mec(algorithm: str, mdp: Mdp, setting: Setting) -> MecRun:
    """Run an algorithm, after a run on a small model that compiles what is not yet compiled.

    Parameters
    ----------
    algorithm : str
        A key of `ALGORITHMS`.
    mdp : Mdp
        The Markov decision process.
    setting : Setting
        How it runs.
    """
    run = ALGORITHMS[algorithm]
    if setting.device.compiles:
        run(small_mdp(), replace(setting, watch=unwatched))
    begin = time.perf_counter()
    found = run(mdp, setting)
    seconds = time.perf_counter() - begin
    return MecRun(
        algorithm=algorithm,
        device=setting.device.name,
        threads=setting.device.threads if MEC_KINDS[algorithm].threads else 1,
        found=found,
        seconds=seconds,
    )
