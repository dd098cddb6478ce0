"""The checker of AXI's rules finds what breaks them."""

from typing import Any

import pytest

from tests.cocotb.axi_rules import MasterRules

Cycle = dict[str, int]

_QUIET: Cycle = {"bready": 1, "rready": 1, "wlast": 1, "wstrb": 0xFF} | {
    channel + field: value
    for channel in ("aw", "ar")
    for field, value in {"addr": 0x1000, "size": 3, "burst": 1}.items()
}
READ: Cycle = {"arvalid": 1, "arready": 1}
WRITE: Cycle = {"awvalid": 1, "awready": 1, "wvalid": 1, "wready": 1}


class _Signal:
    value = 0


class _Dut:
    """A design with every port that is accessed."""

    def __getattr__(self, name: str) -> Any:
        signal = _Signal()
        setattr(self, name, signal)
        return signal


def check(*cycles: Cycle) -> MasterRules:
    """Show cycles to a checker; what a cycle does not set is quiet."""
    dut: Any = _Dut()
    rules = MasterRules(dut, "m", limits=(2, 2), allowed=lambda address, size: 0x1000 <= address <= 0x2000 - size)
    for cycle in cycles:
        for signal in vars(dut).values():
            signal.value = 0
        dut.aresetn.value = 1
        for name, value in (_QUIET | cycle).items():
            getattr(dut, f"m_{name}").value = value
        rules.check()
    return rules


def test_what_is_allowed_passes() -> None:
    waits = {"arvalid": 1, "araddr": 0x1004, "arsize": 2}
    rules = check(
        waits,
        waits,
        waits | {"arready": 1},
        WRITE,
        {"awvalid": 1, "awready": 1, "awaddr": 0x1004, "awsize": 2},
        {"wvalid": 1, "wready": 1, "wstrb": 0xF0},
        {"bvalid": 1, "rvalid": 1},
        {"bvalid": 1},
    )
    assert (rules.stalls, rules.narrow, rules.peaks) == (2, {0: 0, 4: 1}, [1, 2])


@pytest.mark.parametrize(
    "cycles",
    [
        [{"arvalid": 1}, {}],
        [{"awvalid": 1}, {}],
        [{"wvalid": 1}, {}],
        [{"arvalid": 1}, {"arvalid": 1, "araddr": 0x1008}],
        [{"wvalid": 1}, {"wvalid": 1, "wdata": 1}],
        [READ | {"araddr": 0x1004}],
        [READ | {"araddr": 0x1002, "arsize": 2}],
        [READ | {"arsize": 1}],
        [READ | {"arlen": 1}],
        [READ | {"araddr": 0x2000}],
        [READ | {"araddr": 0xFF8}],
        [WRITE | {"awaddr": 0x2000}],
        [WRITE | {"wlast": 0}],
        [WRITE | {"wstrb": 0x0F}],
        [WRITE | {"awaddr": 0x1004, "awsize": 2, "wstrb": 0x0F}],
        [READ, READ, READ],
        [WRITE, WRITE, WRITE],
        [READ, {"rvalid": 1}, {"rvalid": 1}],
        [{"awvalid": 1, "awready": 1}, {"bvalid": 1}],
    ],
    ids=str,
)
def test_what_breaks_a_rule_is_found(cycles: list[Cycle]) -> None:
    with pytest.raises(AssertionError):
        check(*cycles)


def test_nothing_is_valid_in_reset() -> None:
    dut: Any = _Dut()
    rules = MasterRules(dut, "m", limits=(2, 2), allowed=lambda *_: True)
    rules.check()
    dut.m_awvalid.value = 1
    with pytest.raises(AssertionError):
        rules.check()
