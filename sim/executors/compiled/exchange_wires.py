"""C++ source of the wires between the slices of an exchange of ids and the kernels."""

from cyscc.hw.exchange.wires import ID_BITS, PLANES, rest_bits
from cyscc.hw.interfaces import number_bits
from cyscc.sim.executors.compiled.switch_wires import _get, _numbers, _put, _spread

__all__ = ["exchange_wires"]


def exchange_wires(kernels: int) -> str:
    """Return C++ source of a class ``ExchangeWires``, which connects ``BfsLanes`` and ``ExchangeSlices``.

    Parameters
    ----------
    kernels : int
        Kernels of an AE.
    """
    lines = [
        '#include "lane_switch.h"',
        "namespace cyscc {",
        "struct ExchangeWires {",
        "static void number([[maybe_unused]] ExchangeSlices& slices) {",
        *_numbers("slices", "ExchangeSlices", number_bits(kernels)),
        "}",
        "static void connect(BfsLanes& kernels, ExchangeSlices& slices) {",
    ]
    for plane in PLANES:
        lines += [
            *_spread(
                [("id", ID_BITS)],
                count=kernels,
                source=("kernels", "BfsLanes", f"sent_{plane}"),
                target=("slices", plane),
            ),
            "{",
            "uint64_t rooms[ExchangeSlices::kLanes], values[BfsLanes::kLanes];",
            *_get("slices", "ExchangeSlices", f"room_{plane}", kernels, "rooms"),
            "transpose(rooms, values);",
            _put("kernels", f"room_{plane}", kernels),
            f"const Bits owned = slices.owned_{plane}_valid();",
            f"slices.owned_{plane}_ready(kernels.owned_{plane}_ready());",
            f"kernels.owned_{plane}_valid(owned);",
            "if (owned) {",
            *_get("slices", "ExchangeSlices", f"owned_{plane}_payload", rest_bits(kernels), "values"),
            _put("kernels", f"owned_{plane}_payload", rest_bits(kernels)),
            "}",
            "}",
        ]
    return "\n".join([*lines, "}", "};", "}  // namespace cyscc"]) + "\n"
