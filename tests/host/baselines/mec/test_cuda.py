"""The parallel algorithm as kernels of a graphics processor, on numba's simulator, in every order of threads."""

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import ORDERS, Order
from cyscc.host.baselines.mec.parallel import parallel
from cyscc.host.baselines.software.decomposition import SoftwareSetting
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.mdp.models import SMALL, model


def check_models() -> None:
    # Two rounds, attractors, a component that is closed at once, regions.
    mdp = model([[0], [1, 4]], [[1], [0, 4]], [[3]], [[2], [0, 3]], [[4]], [[6]], [[5, 0]])
    small, expected = SMALL["a leak that takes others along"]
    for order in ORDERS:
        with open_device("cuda", order=Order(order, seed=2)) as device:
            setting = SoftwareSetting(device=device)
            found = parallel(mdp, setting)
            assert parallel(small, setting).mecs.tolist() == expected
        assert found.mecs.tolist() == [0, 1, 2, 2, 4, -1, -1]
        assert len(found.rounds) == 2


def test_on_the_simulator() -> None:
    simulate(check_models)
