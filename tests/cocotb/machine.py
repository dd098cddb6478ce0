"""Several exported AEs with their links, as one module."""

from collections.abc import Sequence

from cyscc.sim.export.files import Port

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
