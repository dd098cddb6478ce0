"""Table 1 of Wijs et al. 2014: Tarjan's algorithm and five configurations of ``fbt`` on graphs of models."""

from typing import Any

from host.measuring.measurements import Measurements
from host.measuring.models import ModelSpec
from host.measuring.requests import Measured
from host.measuring.setting import processor_name
from host.measuring.software import SoftwareRequest
from host.results.version import version
from host.studies.wijs.models import MODELS
from host.studies.wijs.published import CONFIGURATIONS

__all__ = ["TARJAN", "table1_document"]

TARJAN = "tarjan"
"""Name of the series that the others are compared with."""


def _request(graph: ModelSpec, series: str, *, device: str, threads: int, seed: int) -> SoftwareRequest:
    if series == TARJAN:
        return SoftwareRequest(graph=graph, algorithm=TARJAN, threads=1)
    options = tuple(CONFIGURATIONS[series].items())
    return SoftwareRequest(graph=graph, algorithm="fbt", threads=threads, device=device, seed=seed, options=options)


def table1_document(measurements: Measurements, *, quick: bool, device: str, threads: int, seed: int) -> dict[str, Any]:
    """Measure the table, and return it as a JSON document.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    quick : bool
        Whether models are small.
    device : str
        Where ``fbt`` runs.
    threads : int
        Threads of the processor that it may use.
    seed : int
        Of models that are drawn at random.

    Returns
    -------
    dict
        ``rows``: ``model``, ``family``, ``sizes``, ``like`` (the paper's models of that shape), ``vertices``,
        ``edges``, ``degree``, ``components``, ``seconds`` by series (``tarjan`` or a configuration), and ``counts`` by
        configuration; and what was run.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    series = (TARJAN, *CONFIGURATIONS)
    specs = [chosen.spec(quick=quick, seed=seed) for chosen in MODELS]
    requests = {
        (spec, name): _request(spec, name, device=device, threads=threads, seed=seed)
        for spec in specs
        for name in series
    }
    results = measurements.measure(requests.values())
    rows = []
    for chosen, spec in zip(MODELS, specs, strict=True):
        found: dict[str, Measured] = {name: results[requests[spec, name]] for name in series}
        first = found[TARJAN]
        rows.append(
            {
                "model": chosen.name,
                "family": spec.family,
                "sizes": dict(spec.sizes),
                "like": chosen.like,
                "vertices": first["vertices"],
                "edges": first["edges"],
                "degree": first["edges"] / first["vertices"],
                "components": first["components"],
                "seconds": {name: each["seconds"] for name, each in found.items()},
                "counts": {name: found[name]["counts"] for name in CONFIGURATIONS},
            }
        )
    return {
        "figure": "wijs-table1",
        "version": version(),
        "seed": seed,
        "device": device,
        "threads": threads,
        "processor": processor_name(),
        "rows": rows,
    }
