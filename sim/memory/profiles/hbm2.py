"""Profile `hbm2`: the two HBM2 stacks of an AMD (Xilinx) Alveo U280."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.dram import Dram


@dataclass(frozen=True, kw_only=True)
class Hbm2(Dram):
    """HBM2 with 16 controllers of two pseudo-channels each, at 900 MHz: 1.8 Gb/s per pin at two bits per clock (PG276).

    Sources: AMD PG276 and UG1393; "Shuhai: Benchmarking High Bandwidth Memory on FPGAs" (Wang, Huang, Zhang and Alonso,
    FCCM 2020), measured on the board; the simulators DRAMsim3 (`HBM2_4Gb_x128.ini`) and gem5 (`HBM_2000_4H_1x64`),
    whose times are rounded up to clocks of 900 MHz; JEDEC JESD235.

    * Pseudo-channels: PG276, UG1393; bursts of a row: gem5. `links` stands for a crossbar in the fabric instead of the
      AXI switch, whose lateral links could carry only a part of random traffic. The board's map has blocks of 256 MB;
      `channel_bit` is an assumption. `low_groups` and `low_columns` are the board's defaults (Shuhai).
    * `way_there`, `way_back`: 106.7 ns of an access to an open row, measured at the AXI port (48 cycles of 450 MHz),
      less `t_cl` and a burst; that they are equal is an assumption.
    * A burst has 4 beats, two a clock; column to column of a group is twice that (DRAMsim3).
    * `t_rcd`, `t_rp`: 15.5 ns each, measured (7 cycles of 450 MHz each). `t_ras`, `t_rtp`, `t_wr`, `t_wtr`, `t_cl`,
      `t_cwl`, `t_rrd`: 34, 6, 16, 8, 14, 4 and 4 ns (DRAMsim3). `t_rtw`: the read's data, and two clocks to turn the
      bus, before the write's. `t_faw`: 16 ns (gem5); DRAMsim3 has 30 ns, of a channel of 128 bits.
    * `t_refi`, `t_rfc`: 3.9 us and 260 ns (DRAMsim3, of 4 Gb a channel).
    * `activate_clocks`: an activate takes two clocks of the row commands, which the pseudo-channels of a controller
      share, a precharge one (JESD235).
    * `entries`: a window of 64 requests for each pseudo-channel (PG276). `write_batch`: six tenths of that, an
      assumption: writes are gathered until the window is full to eight tenths, and performed down to two.
    """

    name: ClassVar[str] = "hbm2"

    memory_mhz: int = 900
    way_there: int = 40
    way_back: int = 41
    burst: int = 2
    t_rcd: int = 14
    t_rp: int = 14
    t_ras: int = 31
    t_cl: int = 13
    t_cwl: int = 4
    t_ccd_l: int = 4
    t_rrd: int = 4
    t_faw: int = 15
    t_rtp: int = 6
    t_wr: int = 15
    t_wtr: int = 8
    t_rtw: int = 13
    t_refi: int = 3510
    t_rfc: int = 234
    refresh_stagger: int = 0
    activate_clocks: int = 2
    precharge_clocks: int = 1
    entries: int = 128
    write_batch: int = 38
    channels: int = 32
    pseudo_channels: int = 2
    columns: int = 32
    burst_bytes: int = 32
    low_groups: int = 1
    low_columns: int = 5
