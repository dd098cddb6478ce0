"""Maximal end components of a Markov decision process, with the components of each round from the accelerator."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import MecDecomposition, basic
from cyscc.host.graph.csr import Graph
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import Session
from cyscc.host.runs.results import SccResult
from cyscc.host.specification.run import RunSpec


def run_accelerated_mec(mdp: Mdp, spec: RunSpec, progress: Progress) -> tuple[MecDecomposition, list[SccResult]]:
    """Run the basic algorithm, with the components of each round found on a simulated machine.

    Each round places the graph of the remaining choices, without duplicate edges and self-loops, on a new machine. The
    host does the rest of a round: it drops choices that leave their component, and removes attractors.

    Parameters
    ----------
    mdp : Mdp
        The Markov decision process.
    spec : RunSpec
        How the machine runs; `spec.graph` names the graphs in results.
    progress : Progress
        Progress display of each round.

    Returns
    -------
    found : MecDecomposition
        The maximal end components.
    rounds : list of SccResult
        Results of the accelerator for each round. The host's work in between takes no cycles.

    Raises
    ------
    InputError
        The simulation of a round needs more memory than is available.
    SimulationError
        The simulation of a round failed, or its components are wrong.
    """
    rounds: list[SccResult] = []

    def components(graph: Graph) -> NDArray[np.int64]:
        # Choices of a state often share targets, which kernels would push repeatedly.
        result = Session(replace(spec, simplify=True), progress, graph, aim=f"round {len(rounds) + 1}").execute()
        assert isinstance(result, SccResult), "components were found"
        rounds.append(result)
        return result.labels.astype(np.int64)

    return basic(mdp, components=components), rounds
