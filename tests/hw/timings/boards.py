"""Timing of the adapters to AXI and to the HC-2."""

from functools import partial

from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.link import AxiLink
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.convey.link import ConveyLink
from cyscc.hw.convey.memory_port import ConveyMemoryPort
from tests.hw.timings.timing import END, Timing

_AXI = partial(AxiMemoryPort, AxiLimits(outstanding_reads=4, outstanding_writes=8))

BOARDS = (
    Timing(
        claim="port on AXI, a read a cycle up to the limit, and one more with each answer",
        make=_AXI,
        given={"port.read": [{}] * 12, "axi.arready": 1, "axi.rvalid": [10, 11]},
        shown={"axi.arvalid": [1, 2, 3, 4, 12, 13], "axi.rready": range(3, END), "port.response": [11, 12]},
    ),
    Timing(
        claim="port on AXI, a write a cycle up to the limit, and a flush behind the last answer",
        make=_AXI,
        given={
            "port.write": [{}] * 10,
            "port.flush": [25],
            "axi.awready": 1,
            "axi.wready": 1,
            "axi.bvalid": range(15, 35, 2),
        },
        shown={"axi.awvalid": [*range(1, 9), 17, 19], "axi.wvalid": [*range(1, 9), 17, 19], "port.flushed": [35]},
    ),
    Timing(
        claim="port on AXI, a flush without writes",
        make=_AXI,
        given={"port.flush": [0]},
        shown={"port.flushed": [2]},
    ),
    Timing(
        claim="link on AXI, a cycle each way",
        make=AxiLink,
        given={
            "link_out.valid": [0],
            "next_engine.tready": [3],
            "previous_engine.tvalid": [5],
        },
        shown={"next_engine.tvalid": [1, 2, 3], "link_in": [6], "previous_engine.tready": range(END)},
    ),
    Timing(
        claim="port on the HC-2, a load or a store a cycle",
        make=ConveyMemoryPort,
        given={"port.read": [{}] * 3, "port.write": [{}] * 3},
        shown={"mc.req_ld": [4, 5, 6], "mc.req_st": [1, 2, 3]},
    ),
    *(
        Timing(
            claim=f"port on the HC-2, {stalled} stalled",
            make=ConveyMemoryPort,
            given={"port.read": [{}] * 9, "port.write": [{}] * 9, f"mc.{stalled}_rq_stall": 1},
            shown={"mc.req_ld": loads, "mc.req_st": stores},
        )
        for stalled, loads, stores in (("rd", [], range(1, 10)), ("wr", range(2, 11), [1]))
    ),
    Timing(
        claim="port on the HC-2, answers and flushes through a register",
        make=ConveyMemoryPort,
        given={
            "mc.rsp_push": [1],
            "mc.rsp_flush_cmplt": [1],
            "port.flush": [1],
            "mc.rsp_data": {1: 5},
            "mc.rsp_rdctl": {1: 2},
        },
        shown={
            "port.response": [2],
            "port.flushed": [2],
            "mc.req_flush": [2],
            "port.response.payload.data": {2: 5},
            "port.response.payload.tag": {2: 2},
        },
    ),
    Timing(
        claim="link of the HC-2, two words a token",
        make=ConveyLink,
        given={"link_out.valid": [0], "ae.prvae_rx_vld": [3, 4]},
        shown={"ae.nxtae_tx_vld": [2, 3], "link_in": [5]},
    ),
    *(
        Timing(
            claim=f"link of the HC-2, a stall of four cycles from cycle {begin} on",
            make=ConveyLink,
            given={"link_out.valid": [0], "ae.nxtae_tx_stall": range(begin, begin + 4)},
            shown={"ae.nxtae_tx_vld": words},
        )
        for begin, words in ((0, [6, 7]), (1, [2, 7]), (2, [2, 3]))
    ),
)
