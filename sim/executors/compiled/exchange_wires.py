"""C++ source of the wires between the slices of an exchange of ids and the kernels."""

from cyscc.hw.exchange.wires import PLANES, rest_bits
from cyscc.sim.executors.compiled.slice_wires import get_bits, get_word, put_room, put_word


def exchange_wires(kernels: int) -> str:
    """Return C++ source of a class ``ExchangeWires``, which connects ``BfsLanes`` and ``ExchangeSlices``.

    Parameters
    ----------
    kernels : int
        Kernels of an AE.
    """
    send: list[str] = []
    connect: list[str] = []
    for plane in PLANES:
        send += [
            "{",
            *get_bits(("kernels", "BfsLanes", f"send_{plane}"), kernels, f"slices.push_{plane}()"),
            f"if (any) kernels.get_id_{plane}_0(slices.{plane}_0());",
            "sent |= any;",
            "}",
        ]
        connect += [
            "{",
            *put_room(f"slices.room_{plane}()", ("kernels", "BfsLanes", f"room_{plane}"), kernels),
            f"const Bits owned = slices.owned_{plane}_valid();",
            f"slices.owned_{plane}_ready(kernels.owned_{plane}_ready());",
            f"kernels.owned_{plane}_valid(owned);",
            "if (owned) {",
            *get_word("slices", "ExchangeSlices", f"owned_{plane}_payload", rest_bits(kernels), "values"),
            put_word("kernels", f"owned_{plane}_payload", rest_bits(kernels)),
            "}",
            "}",
        ]
    lines = [
        '#include "lane_switch.h"',
        "namespace cyscc {",
        "struct ExchangeWires {",
        "// Brings ids to the slices; returns whether there are any.",
        "static bool send(BfsLanes& kernels, ExchangeSlices& slices) {",
        "bool sent = false;",
        *send,
        "return sent;",
        "}",
        "static void connect(BfsLanes& kernels, ExchangeSlices& slices) {",
        *connect,
        "}",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"


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
