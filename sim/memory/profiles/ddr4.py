"""Profile `ddr4`: the four channels of DDR4 of an AMD (Xilinx) Alveo U250 or an AWS F1 instance."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.dram import Dram


@dataclass(frozen=True, kw_only=True)
class Ddr4(Dram):
    """DDR4-2400 with four channels of 64 bits, each with a controller of its own, at 1,200 MHz.

    Sources: JEDEC JESD79-4 for devices of 8 Gb with 8 bits, grade R (16-16-16), one rank; "Shuhai: Benchmarking High
    Bandwidth Memory on FPGAs" (Wang, Huang, Zhang and Alonso, FCCM 2020), measured on a board of the same series.

    * A burst has 8 beats of 64 bits, two a clock: 64 bytes. A row of a channel has 8 KB, 128 bursts.
    * Address bits: channel, bank group, column, bank, row, from the burst on: an assumption, under which consecutive
      bursts go to other channels and bank groups, as controllers are configured for streams.
    * `way_there`, `way_back`: 73.3 ns of an access to an open row, measured at the AXI port (22 cycles of 300 MHz),
      less `t_cl` and a burst; that they are equal is an assumption.
    * `t_rcd`, `t_rp`, `t_cl`: 13.32 ns. `t_ras`, `t_ccd_l`, `t_rrd`, `t_faw`, `t_rtp`, `t_wr`, `t_wtr`: 32, 5, 3.3, 21,
      7.5, 15 and 7.5 ns. `t_rtw`: the read's data, and two clocks to turn the bus, before the write's.
    * `t_refi`, `t_rfc`: 7.8 us and 360 ns.
    * An activate and a precharge take a clock of the channel's commands each; columns share them, and are few.
    * `entries`: 32 for each channel, an assumption. `write_batch`: six tenths of that, as of `hbm2`.
    """

    name: ClassVar[str] = "ddr4"

    memory_mhz: int = 1200
    way_there: int = 34
    way_back: int = 34
    burst: int = 4
    t_rcd: int = 16
    t_rp: int = 16
    t_ras: int = 39
    t_cl: int = 16
    t_cwl: int = 12
    t_ccd_l: int = 6
    t_rrd: int = 4
    t_faw: int = 26
    t_rtp: int = 9
    t_wr: int = 18
    t_wtr: int = 9
    t_rtw: int = 10
    t_refi: int = 9364
    t_rfc: int = 433
    refresh_stagger: int = 0
    activate_clocks: int = 1
    precharge_clocks: int = 1
    entries: int = 32
    write_batch: int = 19
    channels: int = 4
    pseudo_channels: int = 1
    columns: int = 128
    burst_bytes: int = 64
    low_groups: int = 2
    low_columns: int = 7
