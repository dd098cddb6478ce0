"""The maximal end components of a Markov decision process, on this machine's processor or on the accelerator."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from host.algorithms.mec.basic import MecDecomposition, basic
from host.graph.csr import Graph
from host.mdp.model import Mdp
from host.progress import Progress
from host.runs.execution import execute
from host.runs.results import SccResult
from host.runs.specification import RunSpec

__all__ = ["run_accelerated_mec"]


def run_accelerated_mec(mdp: Mdp, spec: RunSpec, progress: Progress) -> tuple[MecDecomposition, list[SccResult]]:
    """Find the maximal end components by the basic algorithm, the components of each round on a simulated machine.

    Each round has the graph of the choices that remain, each edge once and without self-loops, and a machine of its own
    that it is placed in. The rest of a round, choices that leave and attractors, is the host's.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    spec : RunSpec
        How the machine runs; results call the graphs what `spec.graph` says.
    progress : Progress
        Shows how far each round is.

    Returns
    -------
    found : MecDecomposition
        What was found.
    rounds : list of SccResult
        The components of each round, as the accelerator found them. What the host does in between takes no cycles.

    Raises
    ------
    InputError
        The simulation of a round needs more memory than there is.
    SimulationError
        It failed, or found what are not the components.
    """
    rounds: list[SccResult] = []

    def components(graph: Graph) -> NDArray[np.int64]:
        # Choices of a state often lead to the same ones; kernels would push these again and again.
        result = execute(replace(spec, simplify=True), progress, graph=graph, aim=f"round {len(rounds) + 1}")
        assert isinstance(result, SccResult), "components were found"
        rounds.append(result)
        return result.labels.astype(np.int64)

    return basic(mdp, components=components), rounds
