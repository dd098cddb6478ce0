"""C++ source of the wires between the slices of a switch, whose ports have names and widths of their own."""

from cyscc.hw.interfaces import number_bits
from cyscc.hw.switch.switch import SwitchSizes
from cyscc.hw.switch.wires import link_request
from cyscc.sim.executors.compiled.slice_wires import WORD, get_bits, number_slices, put_room, put_word


def switch_wires(sizes: SwitchSizes, *, kernels: str, links: str) -> str:
    """Return C++ source of a class ``Wires``, whose functions connect the objects of kernel slices and link slices.

    Parameters
    ----------
    sizes : SwitchSizes
        Sizes of the switch.
    kernels, links : str
        Names of the classes of kernel slices and link slices, see `cyscc.sim.executors.compiled.lanes.lanes_source`.
    """
    kernel_bits, link_bits = number_bits(sizes.kernels), number_bits(sizes.links)
    words = -(-link_request(sizes.link_bits).size // WORD)
    lines = [
        '#include "lane_switch.h"',
        "namespace cyscc {",
        "struct Wires {",
        f"static void number({links}& links) {{",
        *number_slices("links", links, link_bits),
        "}",
        f"static void put_tags({links}& links, const uint64_t* all) {{",
        f"const auto& values = *reinterpret_cast<const uint64_t(*)[{links}::kLanes]>(all);",
        put_word("links", "port_response_payload", WORD + kernel_bits, word=1),
        "}",
        "// Connects what the slices put out, or besides what nobody takes.",
        "template <bool kAll>",
        f"static void connect({kernels}& kernels, {links}& links) {{",
        "{",
        *get_bits(("kernels", kernels, "send"), sizes.links, "links.push()"),
        "if (any || kAll) {",
        *(f"kernels.get_request_{word}(links.request_{word}());" for word in range(words)),
        "}",
        "}",
        "{",
        *get_bits(("links", links, "answers"), sizes.kernels, "kernels.arrives()"),
        "if (any || kAll) links.get_answer_0(kernels.answer_0());",
        "}",
        "{",
        *put_room("links.room()", ("kernels", kernels, "room"), sizes.links),
        "}",
        "}",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"
