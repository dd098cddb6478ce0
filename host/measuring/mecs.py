"""Maximal end components of Markov decision processes, measured on this processor or a graphics processor."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from host.algorithms.mec.checker import check_mecs
from host.algorithms.mec.decomposition import run_mec
from host.algorithms.software import Setting
from host.devices import open_device
from host.graph.csr import Graph
from host.mdp.model import Mdp
from host.measuring.graphs import ModelSpec
from host.measuring.requests import Measured, Request
from host.measuring.setting import processor_name
from host.measuring.software import BEST_OF, LONG
from host.sources import sources_digest
from host.words import place
from sim.errors import SimulationError

__all__ = ["MecRequest"]


@dataclass(frozen=True, kw_only=True)
class MecRequest(Request):
    """Maximal end components to be found, with nothing else running.

    Parameters
    ----------
    model : ModelSpec
        The model.
    algorithm : str
        The algorithm.
    threads : int
        Threads that it may use.
    device : str
        Where it runs.
    options : tuple of pairs
        Options of what finds the components of each round, by name.
    """

    alone: ClassVar[bool] = True

    graph: None = None
    model: ModelSpec
    algorithm: str
    threads: int
    device: str = "cpu"
    options: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """What messages call it."""
        given = "".join(f", {name} = {value}" for name, value in self.options)
        where = place(self.device, self.threads)
        return f"{self.model.label}, MECs by {self.algorithm} on {where}{given}"

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides: processor, number of runs, sources."""
        return {"processor": processor_name(), "best_of": BEST_OF, "sources": sources_digest()}

    def measure(self, graph: Graph | None, *, verify: bool) -> Measured:
        """Find the maximal end components, several times unless that takes long, and take the best time.

        Returns
        -------
        dict
            ``seconds``, ``counts``, ``rounds`` as `host.algorithms.mec.decomposition.MecRound` has them, ``mecs`` and
            ``in_mecs``, the number of them and of states in any; ``states``, ``choices`` and ``transitions`` of the
            model; ``runs`` and ``verified``.

        Raises
        ------
        InputError
            There is no such model, or no such device.
        SimulationError
            The result is wrong.
        """
        mdp = self.model.model()
        results = [self._run(mdp, verify=verify)]
        while len(results) < BEST_OF and sum(each["seconds"] for each in results) < LONG:
            results.append(self._run(mdp, verify=False))
        best = min(results, key=lambda each: float(each["seconds"]))
        return {**best, "runs": len(results), "verified": verify, "wall": {}}

    def _run(self, mdp: Mdp, *, verify: bool) -> Measured:
        with open_device(self.device, threads=self.threads) as device:
            run = run_mec(self.algorithm, mdp, Setting(device=device, options=dict(self.options)))
        found = run.found
        difference = check_mecs(mdp, found.mecs) if verify else None
        if difference is not None:
            raise SimulationError(f"wrong result: {difference}")
        return {
            "seconds": run.seconds,
            "counts": dict(found.counts),
            "rounds": [asdict(each) for each in found.rounds],
            "mecs": sum(each.mecs for each in found.rounds),
            "in_mecs": int((found.mecs >= 0).sum()),
            "states": mdp.states,
            "choices": mdp.choice_count,
            "transitions": mdp.transition_count,
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['seconds'] * 1e3:.1f} ms, best of {result['runs']}"
