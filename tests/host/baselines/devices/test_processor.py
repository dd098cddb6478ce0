"""Every algorithm for graphics processors on a real one; on numba's simulator, if that is chosen, on tiny graphs."""

from collections.abc import Iterator

import pytest

from cyscc.host.baselines.algorithms import AS_PRINTED, KINDS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import Device
from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mec.basic import small_mdp
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.baselines.mec.parallel import parallel
from cyscc.host.baselines.software.decomposition import SoftwareSetting, small_graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from tests.host.baselines.mdp.models import SMALL
from tests.host.baselines.software.cases import CASES, decompose
from tests.system.graphs import messy_graph


@pytest.fixture
def device() -> Iterator[Device]:
    with open_device("cuda") as opened:
        yield opened


@pytest.mark.gpu
@pytest.mark.parametrize("case", [case for case, (name, _) in CASES.items() if KINDS[name].devices])
def test_components(case: str, device: Device) -> None:
    algorithm, options = CASES[case]
    graphs = [messy_graph(8, 14, 1)]
    if device.compiles:
        graphs.append(small_graph())
        if AS_PRINTED not in options and "sources" not in options:
            graphs += [random_graph(1 << 16, 4, 5), rmat_graph(1 << 16, 8, 5)]
    for graph in graphs:
        decompose(algorithm, graph, device, options)


@pytest.mark.gpu
def test_maximal_end_components(device: Device) -> None:
    models = [SMALL["three that do not leak"][0]]
    if device.compiles:
        models += [small_mdp(), family("random", states=20_000)]
    for model in models:
        assert check_mecs(model, parallel(model, SoftwareSetting(device=device)).mecs) is None
