"""C++ source of the wires between the slices of a switch, whose ports have names and widths of their own."""

from collections.abc import Iterator

from amaranth.hdl import Shape

from cyscc.hw.interfaces import number_bits
from cyscc.hw.switch.switch import SwitchSizes
from cyscc.hw.switch.wires import AnswerSignature, RequestSignature

__all__ = ["switch_ports", "switch_wires"]

_WORD = 64
"""Bits of a word of a port."""


def switch_wires(sizes: SwitchSizes, *, kernels: str, links: str) -> str:
    """Return C++ source of a class ``Wires``, whose functions connect the objects of kernel slices and link slices.

    Parameters
    ----------
    sizes : SwitchSizes
        Sizes of the switch.
    kernels, links : str
        Names of the classes of kernel slices and link slices, see `cyscc.sim.executors.compiled.lanes.lanes_source`.
    """
    request = RequestSignature(sizes.links).members
    answer = AnswerSignature(sizes.kernels).members
    kernel_bits, link_bits = number_bits(sizes.kernels), number_bits(sizes.links)
    shared = f"[[maybe_unused]] {kernels}& kernels, [[maybe_unused]] {links}& links"
    tags = _put("links", "port_response_payload", _WORD + kernel_bits, word=1)
    lines = [
        '#include "lane_switch.h"',
        "namespace cyscc {",
        "struct Wires {",
        f"static void number({shared}) {{",
        *_numbers("kernels", kernels, kernel_bits),
        *_numbers("links", links, link_bits),
        "}",
        f"static void put_tags({links}& links, const uint64_t* all) {{",
        f"const auto& values = *reinterpret_cast<const uint64_t(*)[{links}::kLanes]>(all);",
        tags,
        "}",
        f"static void connect({shared}) {{",
        *_spread(
            [(name, Shape.cast(request[name].shape).width) for name in ("link", "request")],
            count=sizes.kernels,
            source=("kernels", kernels, "request"),
            target=("links", "request"),
        ),
        *_spread(
            [(name, Shape.cast(answer[name].shape).width) for name in ("kernel", "data")],
            count=sizes.links,
            source=("links", links, "answer"),
            target=("kernels", "answer"),
        ),
        "{",
        f"uint64_t rooms[{links}::kLanes], values[{kernels}::kLanes];",
        *_get("links", links, "room", sizes.kernels, "rooms"),
        "transpose(rooms, values);",
        _put("kernels", "room", sizes.links),
        "}",
        "}",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"


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


def _numbers(slices: str, kind: str, width: int) -> Iterator[str]:
    """Yield statements that give each slice its number."""
    if width == 1:
        yield f"{slices}.number(Bits(0xaaaaaaaa) & {kind}::kAll);"
    else:
        yield f"for (int n = 0; n < {kind}::kLanes; ++n) {slices}.put_number_0(n, n);"


def _spread(
    fields: list[tuple[str, int]], *, count: int, source: tuple[str, str, str], target: tuple[str, str]
) -> Iterator[str]:
    """Yield statements that show every slice of one kind what each slice of the other kind puts out.

    Parameters
    ----------
    fields : list of (str, int)
        Fields beside ``valid``, and their widths.
    count : int
        Slices that put out.
    source : tuple of str
        Object, class and port that puts out.
    target : tuple of str
        Object and port, before the number, that takes in.
    """
    slices, kind, port = source
    others, taken = target
    yield "{"
    yield f"const Bits valid = {slices}.{port}_valid();"
    for name, width in fields:
        for word in range(-(-width // _WORD)):
            yield f"alignas(64) uint64_t {name}_{word}[{kind}::kLanes];"
    yield "if (valid) {"
    for name, width in fields:
        for word in range(-(-width // _WORD)):
            yield from _get(slices, kind, f"{port}_{name}", width, f"{name}_{word}", word=word)
    yield "}"
    for n in range(count):
        yield f"{others}.{taken}{n}_valid(valid >> {n} & 1 ? ~Bits(0) : 0);"
        yield f"if (valid >> {n} & 1) {{"
        for name, width in fields:
            for word in range(-(-width // _WORD)):
                value = f"{name}_{word}[{n}]"
                if width == 1:
                    yield f"{others}.{taken}{n}_{name}({value} ? ~Bits(0) : 0);"
                else:
                    yield f"{others}.put_{taken}{n}_{name}_{word}({value});"
        yield "}"
    yield "}"


def _get(slices: str, kind: str, name: str, width: int, array: str, *, word: int = 0) -> Iterator[str]:
    """Yield statements that bring a word of an output of all slices into an array."""
    if width == 1:
        yield f"for (int n = 0; n < {kind}::kLanes; ++n) {array}[n] = {slices}.{name}() >> n & 1;"
    else:
        yield f"{slices}.get_{name}_{word}({array});"


def _put(slices: str, name: str, width: int, *, word: int = 0) -> str:
    """Return the statement that brings ``values`` to a word of an input of all slices."""
    if width == 1:
        gathered = "Bits bits = 0; int n = 0; for (uint64_t value : values) bits |= Bits(value & 1) << n++;"
        return f"{gathered} {slices}.{name}(bits);"
    return f"{slices}.put_{name}_{word}(values);"
