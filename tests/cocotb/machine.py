"""The machine under cocotb, and runs on it with other tops."""

from collections.abc import Sequence
from typing import Protocol

from cocotb.task import bridge

from cyscc.host.graph.reference import canonical, check_components, check_levels
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.coprocessor import Coprocessor
from cyscc.sim.export.files import Port
from tests.system.graphs import messy_graph
from tests.system.runs import search, solve

_SHARED = {"axi": ("aclk", "aresetn"), "convey": ("clk", "i_reset")}
_LINKS = {
    "axi": {
        "s_axis_link_tdata": (-1, "m_axis_link_tdata"),
        "s_axis_link_tvalid": (-1, "m_axis_link_tvalid"),
        "m_axis_link_tready": (1, "s_axis_link_tready"),
    },
    "convey": {
        "prvae_rx_data": (-1, "nxtae_tx_data"),
        "prvae_rx_vld": (-1, "nxtae_tx_vld"),
        "nxtae_tx_stall": (1, "prvae_rx_stall"),
        "nxtae_rx_data": (1, "prvae_tx_data"),
        "nxtae_rx_vld": (1, "prvae_tx_vld"),
        "prvae_tx_stall": (-1, "nxtae_rx_stall"),
    },
}
"""By top: each input of a link, the neighbour (one further or one before), and the neighbour's output."""


def prefix(engine: int) -> str:
    """Return what stands before the names of an AE's ports."""
    return f"e{engine}_"


def machine_verilog(top: str, *, module: str, engines: int, ports: Sequence[Port]) -> str:
    """Return the Verilog of module ``machine``: AEs on one clock, each linked to the next.

    Parameters
    ----------
    top : str
        ``convey`` or ``axi``.
    module : str
        Name of the AE's module.
    engines : int
        Number of AEs.
    ports : sequence of Port
        Its ports.
    """
    shared, links = _SHARED[top], _LINKS[top]
    leaving = {output for _, output in links.values()}
    header = [f"  input {name}" for name in shared]
    wires: list[str] = []
    instances: list[str] = []
    for engine in range(engines):
        connections = []
        for port in ports:
            own = prefix(engine) + port.name
            outer = own
            if port.name in shared:
                outer = port.name
            elif port.name == "i_aeid":
                outer = f"2'd{engine}"
            elif port.name in links:
                step, output = links[port.name]
                outer = prefix((engine + step) % engines) + output
            elif port.name in leaving:
                wires.append(f"  wire [{port.width - 1}:0] {own};")
            else:
                header.append(f"  {port.direction} [{port.width - 1}:0] {own}")
            connections.append(f"    .{port.name}({outer})")
        instances.append(f"  {module} engine{engine} (\n" + ",\n".join(connections) + "\n  );")
    return "\n".join(["module machine (", ",\n".join(header), ");", *wires, *instances, "endmodule", ""])


ENGINES = "CYSCC_TEST_ENGINES"
"""Environment variable that says how many AEs the machine has; one if it is not set."""

GRAPHS = "CYSCC_TEST_GRAPHS"
"""Environment variable that says how many graphs."""


def machine_of(engines: int) -> AcceleratorConfig:
    """Return a small machine; of several AEs, each has a single kernel of a kind, since the build takes long."""
    return PRESETS["test"].replace(engines=engines, bfs_kernels=2 if engines == 1 else 1)


class _Bench(Protocol):
    def set_pace(self, seed: int) -> None: ...

    async def reset(self) -> None: ...


def _find(coprocessor: Coprocessor, seed: int) -> None:
    """Find the components of a graph, or, for each third seed, search it; check the result."""
    graph = messy_graph(5 + seed % 7, 9 + seed % 17, seed)
    if seed % 3:
        run = solve(coprocessor, graph, slack=200)
        assert check_components(canonical(run.colours), graph) is None
    else:
        found = search(coprocessor, graph, 0, slack=200)
        assert check_levels(found.levels, graph, 0) is None


async def run_graphs(bench: _Bench, coprocessor: Coprocessor, count: int) -> None:
    """Make runs on random graphs, each at another pace and after a reset.

    Parameters
    ----------
    bench : object
        Sets the pace and resets the AE.
    coprocessor : Coprocessor
        The AE.
    count : int
        Number of graphs.
    """
    for seed in range(count):
        bench.set_pace(seed)
        await bench.reset()
        await bridge(_find)(coprocessor, seed)
