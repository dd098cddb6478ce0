"""C++ source of the wires between the slices of a switch, whose ports have names and widths of their own."""

from collections.abc import Iterator

from amaranth.hdl import Shape

from cyscc.hw.interfaces import number_bits
from cyscc.hw.switch.switch import SwitchSizes
from cyscc.hw.switch.wires import link_request
from cyscc.sim.executors.compiled.slice_wires import WORD, get_word, number_slices, put_word

__all__ = ["switch_ports", "switch_wires"]


def switch_wires(sizes: SwitchSizes, *, kernels: str, links: str) -> str:
    """Return C++ source of a class ``Wires``, whose functions connect the objects of kernel slices and link slices.

    Parameters
    ----------
    sizes : SwitchSizes
        Sizes of the switch.
    kernels, links : str
        Names of the classes of kernel slices and link slices, see `cyscc.sim.executors.compiled.lanes.lanes_source`.
    """
    request = Shape.cast(link_request(sizes.link_bits)).width
    shared = f"[[maybe_unused]] {kernels}& kernels, [[maybe_unused]] {links}& links"
    tags = put_word("links", "port_response_payload", WORD + number_bits(sizes.kernels), word=1)
    lines = [
        '#include "lane_switch.h"',
        "namespace cyscc {",
        "struct Wires {",
        f"static void number({shared}) {{",
        *number_slices("links", links, number_bits(sizes.links)),
        "}",
        f"static void put_tags({links}& links, const uint64_t* all) {{",
        f"const auto& values = *reinterpret_cast<const uint64_t(*)[{links}::kLanes]>(all);",
        tags,
        "}",
        f"static void connect({shared}) {{",
        *_turned(("kernels", kernels, "send"), ("links", links, "push"), counts=(sizes.kernels, sizes.links)),
        *_shared(("kernels", kernels, "request"), "links", width=request, count=sizes.kernels),
        *_turned(("links", links, "answers"), ("kernels", kernels, "arrives"), counts=(sizes.links, sizes.kernels)),
        *_shared(("links", links, "answer"), "kernels", width=WORD, count=sizes.links),
        *_turned(("links", links, "room"), ("kernels", kernels, "room"), counts=(sizes.links, sizes.kernels)),
        "}",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"


def _turned(source: tuple[str, str, str], target: tuple[str, str, str], *, counts: tuple[int, int]) -> Iterator[str]:
    """Yield statements that bring bit m of output n to bit n of input m; ports are named by object, class and port."""
    (slices, kind, port), (others, other_kind, taken) = source, target
    yield "{"
    yield f"uint64_t given[{kind}::kLanes], values[{other_kind}::kLanes];"
    yield from get_word(slices, kind, port, counts[1], "given")
    yield "transpose(given, values);"
    yield put_word(others, taken, counts[0])
    yield "}"


def _shared(source: tuple[str, str, str], others: str, *, width: int, count: int) -> Iterator[str]:
    """Yield statements that show every slice of the other kind an output of each slice of this kind."""
    slices, kind, port = source
    for word in range(-(-width // WORD)):
        yield "{"
        yield f"alignas(64) uint64_t given[{kind}::kLanes];"
        yield from get_word(slices, kind, port, width, "given", word=word)
        yield from (f"{others}.put_{port}{n}_{word}(given[{n}]);" for n in range(count))
        yield "}"


_PINS = (
    *(f"{channel}_{pin}" for channel in ("read", "write") for pin in ("valid", "ready", "payload")),
    *(f"response_{pin}" for pin in ("valid", "payload")),
    "flush",
    "flushed",
)


def switch_ports(sizes: SwitchSizes, *, model: str) -> str:
    """Return C++ source of a class ``Ports``, whose functions visit the memory ports of a Verilated switch.

    Parameters
    ----------
    sizes : SwitchSizes
        Sizes.
    model : str
        Name of the model's class.
    """
    lines = ["namespace cyscc {", "struct Ports {"]
    for name, port, count in (("kernels", "kernel", sizes.kernels), ("links", "port", sizes.links)):
        lines += ["template <class Function>", f"static void visit_{name}({model}& model, Function&& visit) {{"]
        for n in range(count):
            pins = ", ".join(f"model.{port}{n}_{pin}" for pin in _PINS)
            lines.append(f"visit({n}, SwitchPort{{{pins}}});")
        lines.append("}")
    return "\n".join([*lines, "};", "}  // namespace cyscc", ""])
