"""C++ source of the wires between the slices of an exchange of ids and the kernels."""

from cyscc.hw.exchange.wires import ID_BITS, PLANES, rest_bits
from cyscc.hw.interfaces import number_bits
from cyscc.sim.executors.compiled.slice_wires import get_word, number_slices, put_word, spread

__all__ = ["exchange_pins", "exchange_wires"]


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
        *number_slices("slices", "ExchangeSlices", number_bits(kernels)),
        "}",
        "static void connect(BfsLanes& kernels, ExchangeSlices& slices) {",
    ]
    for plane in PLANES:
        lines += [
            *spread(
                [("id", ID_BITS)],
                count=kernels,
                source=("kernels", "BfsLanes", f"sent_{plane}"),
                target=("slices", plane),
            ),
            "{",
            "uint64_t rooms[ExchangeSlices::kLanes], values[BfsLanes::kLanes];",
            *get_word("slices", "ExchangeSlices", f"room_{plane}", kernels, "rooms"),
            "transpose(rooms, values);",
            put_word("kernels", f"room_{plane}", kernels),
            f"const Bits owned = slices.owned_{plane}_valid();",
            f"slices.owned_{plane}_ready(kernels.owned_{plane}_ready());",
            f"kernels.owned_{plane}_valid(owned);",
            "if (owned) {",
            *get_word("slices", "ExchangeSlices", f"owned_{plane}_payload", rest_bits(kernels), "values"),
            put_word("kernels", f"owned_{plane}_payload", rest_bits(kernels)),
            "}",
            "}",
        ]
    return "\n".join([*lines, "}", "};", "}  // namespace cyscc"]) + "\n"


def exchange_pins(kernels: int) -> str:
    """Return C++ source of a class ``ExchangePins``, which connects arrays of Verilated kernels and exchange slices.

    Parameters
    ----------
    kernels : int
        Kernels of an AE.
    """
    lines = [
        "namespace cyscc {",
        "struct ExchangePins {",
        "template <class Kernels, class Slices>",
        "static void connect(Kernels& kernels, Slices& slices) {",
    ]
    for plane in PLANES:
        lines += [
            f"for (int n = 0; n < {kernels}; ++n) {{",
            "auto& slice = *slices[n];",
            f"slice.push_{plane} = 0;",
            f"for (int k = 0; k < {kernels}; ++k) slice.push_{plane} |= (kernels[k]->send_{plane} >> n & 1) << k;",
            *(f"slice.{plane}{kernel} = kernels[{kernel}]->id_{plane};" for kernel in range(kernels)),
            "}",
            f"for (int n = 0; n < {kernels}; ++n) {{",
            "auto& kernel = *kernels[n];",
            "auto& slice = *slices[n];",
            f"kernel.owned_{plane}_valid = slice.owned_{plane}_valid;",
            f"kernel.owned_{plane}_payload = slice.owned_{plane}_payload;",
            f"slice.owned_{plane}_ready = kernel.owned_{plane}_ready;",
            f"kernel.room_{plane} = 0;",
            f"for (int d = 0; d < {kernels}; ++d) kernel.room_{plane} |= (slices[d]->room_{plane} >> n & 1) << d;",
            "}",
        ]
    return "\n".join([*lines, "}", "};", "}  // namespace cyscc"]) + "\n"
