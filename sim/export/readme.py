"""The README of exported Verilog: its ports, and what they mean."""

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import NamedTuple

from hw.axi import AxiLimits
from hw.axi.registers import ControlRegister, engine_register
from hw.config import AcceleratorConfig
from hw.registers import Instruction, Register

__all__ = ["Port", "meaning", "readme"]

_AE = {
    r"clk": "clock",
    r"rst": "synchronous reset, active high; may stay low, since every register has an initial value",
    r"engine": "number of this engine, 0 to 3; engine 0 leads the token ring",
    r"write_(valid|ready)": "an AEG register write is offered; is taken, which is while no instruction runs",
    r"write_payload": "the write: value [63:0], register number [79:64]",
    r"read_(valid|ready)": "an AEG register read is offered; is taken",
    r"read_payload": "register number",
    r"data_(valid|payload)": "the answer to a read, always taken",
    r"instruction_(valid|ready)": "an instruction is offered; is taken, which is always",
    r"instruction_payload": "0: a BFS level, 1: an intersection",
    r"idle": "no instruction is running",
    r"exception": "an instruction was refused; sticky until reset",
    r"port_\d+_read_(valid|ready)": "a read is offered; is taken",
    r"port_\d+_read_payload": "the read: byte address [47:0], size [48] (0: 4 bytes, 1: 8), tag [50:49]",
    r"port_\d+_write_(valid|ready)": "a write is offered; is taken",
    r"port_\d+_write_payload": "the write: data [63:0], byte address [111:64], size [112]",
    r"port_\d+_response_valid": "the answer to the oldest read that has none, always taken",
    r"port_\d+_response_payload": "data [63:0], a 4-byte element in the low half; the read's tag [65:64]",
    r"port_\d+_flush": "pulse: answer when all writes so far are complete",
    r"port_\d+_flushed": "pulse: they are",
    r"link_(in|out)_(valid|payload)": "token from the previous engine, to the next one: value [31:0], done [32], "
    "epoch [33], intersection module [34]",
}
_CONVEY = {
    r"clk": "personality clock",
    r"i_reset": "synchronous reset, active high",
    r"i_aeid": "number of this engine, 0 to 3; engine 0 leads the token ring",
    r"inst_(val|caep)": "an instruction is dispatched; its number, 0: a BFS level, 1: an intersection",
    r"inst_aeg_(wr|rd)": "an AEG register is written; is read",
    r"inst_aeg_idx": "its number",
    r"cae_data": "what is written",
    r"err_unimpl": "the vendor's decoder met an unknown instruction",
    r"cae_aeg_cnt": "number of AEG registers",
    r"cae_exception": "pulses: [0] unknown instruction, [1] register that does not exist",
    r"cae_ret_data(_vld)?": "answers to register reads, in order",
    r"cae_idle": "nothing runs and nothing waits",
    r"cae_stall": "dispatch nothing more; eight on their way are still taken",
    r"mc\d_req_(ld|st)_[eo]": "a load, a store is requested in this cycle",
    r"mc\d_req_size_[eo]": "2: 4 bytes, 3: 8 bytes",
    r"mc\d_req_vadr_[eo]": "virtual byte address",
    r"mc\d_req_wrd_rdctl_[eo]": "store: data, a 4-byte element in both halves; load: tag",
    r"mc\d_(rd|wr)_rq_stall_[eo]": "no more loads, stores; two requests may still leave, in this cycle and the next",
    r"mc\d_rsp_push_[eo]": "the answer to the oldest load that has none",
    r"mc\d_rsp_data_[eo]": "its data, a 4-byte element in the low half",
    r"mc\d_rsp_rdctl_[eo]": "its tag",
    r"mc\d_rsp_stall_[eo]": "always low",
    r"mc\d_req_flush_[eo]": "pulse: answer when all stores so far are complete",
    r"mc\d_rsp_flush_cmplt_[eo]": "pulse: they are",
    r"nxtae_tx_(data|vld|stall)": "token to the next engine, in two words",
    r"prvae_rx_(data|vld|stall)": "token from the previous engine, in two words; never stalled",
    r"(nxtae_rx|prvae_tx)_(data|vld|stall)": "the other direction, not used",
}
_AXI = {
    r"aclk": "clock",
    r"aresetn": "reset, active low, synchronous to the clock",
    r"s_axi_control_\w+": "AXI4-Lite slave: registers",
    r"m\d\d_axi_ar\w+": "AXI4 master: read addresses; one beat each, narrow for 4 bytes",
    r"m\d\d_axi_r\w+": "read data, in the order of the addresses",
    r"m\d\d_axi_aw\w+": "write addresses",
    r"m\d\d_axi_w\w+": "write data",
    r"m\d\d_axi_b\w+": "write responses, always taken",
    r"m_axis_link_\w+": "AXI4-Stream master: token to the next engine",
    r"s_axis_link_\w+": "AXI4-Stream slave: token from the previous engine, always taken",
}

MEANINGS = {"ae": _AE, "convey": _CONVEY, "axi": _AXI}
"""By top: pattern of names to meaning."""


def meaning(top: str, port: str) -> str:
    """Return what a port means.

    Parameters
    ----------
    top : str
        Kind of top.
    port : str
        Name of a port.

    Raises
    ------
    KeyError
        Nothing is known of it.
    """
    for pattern, text in MEANINGS[top].items():
        if re.fullmatch(pattern, port):
            return text
    raise KeyError(port)


class Port(NamedTuple):
    """A port of an exported top: name, direction (``input`` or ``output``), width in bits."""

    name: str
    direction: str
    width: int


_ABOUT = {
    "ae": """\
One Application Engine with its native ports: ready/valid streams. A stream's transfer happens in each cycle in which
`valid` and `ready` are high; a payload stays as it is while it waits; what has no `ready` is always taken.""",
    "convey": """\
One Application Engine as a personality of the Convey HC-2. The ports have the names and the meaning of the vendor's
`cae_pers`, behind the vendor's instruction decoder (`instdec`), which is not included.""",
    "axi": """\
One Application Engine with an AXI4 master for each memory port, and an AXI4-Lite slave for its registers: AEG register
r at byte addresses 8 r (low half) and 8 r + 4 (high half), the slave's own from 0x4000 on.""",
}


def _registers(top: str) -> list[str]:
    """Return the tables of registers and instructions."""
    axi = top == "axi"
    lines = [
        "## Registers",
        "",
        "docs/register-map.md of the project says what they mean.",
        "",
        "| AEG register | name |" + (" address of its low half |" if axi else ""),
        "|---|---|" + ("---|" if axi else ""),
    ]
    for register in Register:
        lines.append(
            f"| {register.value} | `{register.name}` |" + (f" {engine_register(register):#x} |" if axi else "")
        )
    if axi:
        lines += ["", "| address | register of the slave |", "|---|---|"]
        lines += [f"| {register.value:#x} | `{register.name}` |" for register in ControlRegister]
    lines += ["", "| instruction | name |", "|---|---|"]
    return [*lines, *(f"| {instruction.value} | `{instruction.name}` |" for instruction in Instruction), ""]


def _number(text: str) -> str:
    return re.sub(r"(?<=^m)\d\d(?=_axi_)|(?<=^mc)\d(?=_)|(?<=^port_)\d+(?=_)", "<n>", text)


def readme(
    top: str, *, config: AcceleratorConfig, limits: AxiLimits, files: Iterable[str], ports: Iterable[Port]
) -> str:
    """Return the text of the README, Markdown.

    Parameters
    ----------
    top : str
        Kind of top.
    config : AcceleratorConfig
        The machine.
    limits : AxiLimits
        Limits of the AXI masters.
    files : iterable of str
        Verilog files, in an order in which they can be read; the last is the top's.
    ports : iterable of Port
        The top's ports.

    Raises
    ------
    KeyError
        A port has no meaning.
    """
    listed = list(files)
    module = listed[-1].removesuffix(".v")
    rows: dict[str, tuple[str, int, str]] = {}
    for port in ports:
        rows.setdefault(_number(port.name), (port.direction, port.width, meaning(top, port.name)))
    settings = {field.name: getattr(config, field.name) for field in fields(config)}
    if top == "axi":
        settings |= {field.name: getattr(limits, field.name) for field in fields(limits)}
    return "\n".join(
        [
            f"# {module}",
            "",
            _ABOUT[top],
            "",
            f"Generated; top module `{module}`. `files.f` lists the sources in an order in which they can be read:",
            "",
            *(f"- `{name}`" for name in listed),
            "",
            "## Ports",
            "",
            f"`<n>` stands for the number of a memory port, 0 to {config.ports - 1}"
            + (", two for each memory controller: even and odd." if top == "convey" else "."),
            "",
            "| port | direction | bits | meaning |",
            "|---|---|---|---|",
            *(f"| `{name}` | {direction} | {width} | {text} |" for name, (direction, width, text) in rows.items()),
            "",
            *_registers(top),
            "## Configuration",
            "",
            "| setting | value |",
            "|---|---|",
            *(f"| `{name}` | {str(value).lower()} |" for name, value in settings.items()),
            "",
        ]
    )
