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
            f"if (any || kAll) kernels.get_id_{plane}_0(slices.{plane}_0());",
            "sent |= any;",
            "}",
        ]
        connect += [
            "{",
            *put_room(f"slices.room_{plane}()", ("kernels", "BfsLanes", f"room_{plane}"), kernels),
            f"const Bits owned = slices.owned_{plane}_valid();",
            f"slices.owned_{plane}_ready(kernels.owned_{plane}_ready());",
            f"kernels.owned_{plane}_valid(owned);",
            "if (owned || kAll) {",
            *get_word("slices", "ExchangeSlices", f"owned_{plane}_payload", rest_bits(kernels), "values"),
            put_word("kernels", f"owned_{plane}_payload", rest_bits(kernels)),
            "}",
            "}",
        ]
    lines = [
        '#include "lane_switch.h"',
        "namespace cyscc {",
        "struct ExchangeWires {",
        "// Brings ids to the slices, or besides what is none; returns whether there are any.",
        "template <bool kAll>",
        "static bool send(BfsLanes& kernels, ExchangeSlices& slices) {",
        "bool sent = false;",
        *send,
        "return sent;",
        "}",
        "template <bool kAll>",
        "static void connect(BfsLanes& kernels, ExchangeSlices& slices) {",
        *connect,
        "}",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"
