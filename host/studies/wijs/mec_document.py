"""Table 2 of Wijs et al. 2014: maximal end components by the basic and by the parallel algorithm."""

from collections.abc import Sequence
from typing import Any

from host.measuring.measurements import Measurements
from host.measuring.mecs import MecRequest
from host.measuring.models import ModelSpec
from host.measuring.requests import Request
from host.measuring.setting import processor_name
from host.measuring.software import SoftwareRequest
from host.results.version import version
from host.studies.wijs.models import Chosen
from host.studies.wijs.published import BEST, CONFIGURATIONS

__all__ = ["SERIES", "table2_document"]

SERIES = {"basic": "tarjan", "parallel": "fbt"}
"""The algorithms, and what finds the components of their rounds; that alone is measured too, on the whole graph."""


def _requests(model: ModelSpec, *, device: str, threads: int, seed: int) -> dict[str, Request]:
    options = tuple(CONFIGURATIONS[BEST].items())
    return {
        "basic": MecRequest(model=model, algorithm="basic", threads=1),
        "parallel": MecRequest(model=model, algorithm="parallel", threads=threads, device=device, options=options),
        "tarjan": SoftwareRequest(graph=model, algorithm="tarjan", threads=1),
        "fbt": SoftwareRequest(
            graph=model, algorithm="fbt", threads=threads, device=device, seed=seed, options=options
        ),
    }


def table2_document(
    measurements: Measurements, models: Sequence[Chosen], *, quick: bool, device: str, threads: int, seed: int
) -> dict[str, Any]:
    """Measure the table, and return it as a JSON document.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    models : sequence of Chosen
        The models.
    quick : bool
        Whether models are small.
    device : str
        Where ``fbt`` and the parallel algorithm run.
    threads : int
        Threads of the processor that they may use.
    seed : int
        Of models that are drawn at random.

    Returns
    -------
    dict
        ``rows``: ``model``, ``family``, ``sizes``, ``like`` (the paper's models of that shape), ``states``,
        ``choices``, ``transitions``, ``components``, ``mecs``, ``in_mecs`` (states), ``rounds``, ``seconds`` by series
        (``basic``, ``parallel``, and ``tarjan`` and ``fbt``, which decompose the whole graph once), and ``counts`` of
        ``parallel``; and what was run.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    specs = [chosen.spec(quick=quick, seed=seed) for chosen in models]
    requests = [_requests(spec, device=device, threads=threads, seed=seed) for spec in specs]
    results = measurements.measure(each for own in requests for each in own.values())
    rows = []
    for chosen, spec, own in zip(models, specs, requests, strict=True):
        found = {name: results[request] for name, request in own.items()}
        first = found["basic"]
        rows.append(
            {
                "model": chosen.name,
                "family": spec.family,
                "sizes": dict(spec.sizes),
                "like": chosen.like,
                **{name: first[name] for name in ("states", "choices", "transitions", "mecs", "in_mecs")},
                "components": found["tarjan"]["components"],
                "rounds": len(first["rounds"]),
                "seconds": {name: each["seconds"] for name, each in found.items()},
                "counts": found["parallel"]["counts"],
            }
        )
    return {
        "figure": "wijs-table2",
        "version": version(),
        "seed": seed,
        "device": device,
        "threads": threads,
        "processor": processor_name(),
        "rows": rows,
    }
