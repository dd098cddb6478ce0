"""The rules of AXI that a master has to keep, checked in every cycle."""

from collections.abc import Callable
from typing import Any

from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge

_FIELDS = {
    "aw": ("id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos"),
    "w": ("data", "strb", "last"),
    "ar": ("id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos"),
}


class MasterRules:
    """Watches an AXI4 master with 64-bit data whose bursts have one beat, and asserts the rules.

    Looks at falling edges: then the signals have the values that the next rising edge finds.

    Parameters
    ----------
    dut : HierarchyObject
        Where the ports are.
    prefix : str
        Prefix of the master's ports.
    limits : tuple of int
        Reads and writes that may be outstanding.
    allowed : callable
        Says of an address and a size in bytes whether they may be accessed.
    """

    def __init__(
        self, dut: HierarchyObject, prefix: str, *, limits: tuple[int, int], allowed: Callable[[int, int], bool]
    ) -> None:
        self._prefix = prefix
        self._clock: Any = dut.aclk
        self._reset: Any = dut.aresetn
        self._signals: dict[str, Any] = {
            channel + field: getattr(dut, f"{prefix}_{channel}{field}")
            for channel, fields in _FIELDS.items()
            for field in ("valid", "ready", *fields)
        }
        self._signals |= {name: getattr(dut, f"{prefix}_{name}") for name in ("rvalid", "rready", "bvalid", "bready")}
        self._limits = limits
        self._allowed = allowed
        self._waiting: dict[str, tuple[int, ...]] = {}
        self._reads = self._addresses = self._data = self._answers = 0
        self._places: list[int] = []
        self._strobes: list[int] = []
        self.stalls = 0
        """Cycles in which a channel waited."""
        self.narrow = {0: 0, 4: 0}
        """Reads of 4 bytes, by their place in a word."""
        self.peaks = [0, 0]
        """Most reads and writes outstanding."""

    def _get(self, name: str) -> int:
        return int(self._signals[name].value)

    async def watch(self) -> None:
        """Check until the simulation ends."""
        while True:
            await FallingEdge(self._clock)
            self.check()

    def check(self) -> None:
        """Check a cycle."""
        if not int(self._reset.value):
            assert not any(self._get(f"{channel}valid") for channel in _FIELDS)
            return
        moved = [channel for channel in _FIELDS if self._check_channel(channel)]
        self._check_requests(moved)
        self._check_outstanding(moved)

    def _check_channel(self, channel: str) -> bool:
        """Check that what waits stays, and tell whether something is transferred."""
        valid, ready = self._get(f"{channel}valid"), self._get(f"{channel}ready")
        waited = self._waiting.pop(channel, None)
        if not valid:
            assert waited is None, f"{self._prefix}_{channel}valid fell without a transfer"
            return False
        payload = tuple(self._get(channel + field) for field in _FIELDS[channel])
        assert waited in (None, payload), f"{self._prefix}_{channel} changed while it waited"
        if not ready:
            self._waiting[channel] = payload
            self.stalls += 1
        return bool(ready)

    def _check_requests(self, moved: list[str]) -> None:
        """Check addresses, sizes and strobes of what is transferred."""
        for channel in ("ar", "aw"):
            if channel in moved:
                address, size = self._get(channel + "addr"), 1 << self._get(channel + "size")
                assert size in (4, 8)
                assert address % size == 0
                assert (self._get(channel + "len"), self._get(channel + "burst")) == (0, 1)
                assert self._allowed(address, size), f"{self._prefix}_{channel}addr {address:#x}"
                if channel == "ar" and size == 4:
                    self.narrow[address % 8] += 1
                if channel == "aw":
                    self._addresses += 1
                    self._places.append(((1 << size) - 1) << address % 8)
        if "w" in moved:
            assert self._get("wlast")
            self._data += 1
            self._strobes.append(self._get("wstrb"))
        while self._places and self._strobes:
            assert self._strobes.pop(0) == self._places.pop(0)

    def _check_outstanding(self, moved: list[str]) -> None:
        """Check that the limits hold, and that every response belongs to a request."""
        self._reads += "ar" in moved
        if self._get("rvalid") and self._get("rready"):
            self._reads -= 1
        if self._get("bvalid") and self._get("bready"):
            self._answers += 1
        writes = max(self._addresses, self._data) - self._answers
        assert min(self._addresses, self._data) >= self._answers
        assert 0 <= self._reads <= self._limits[0]
        assert writes <= self._limits[1]
        self.peaks = [max(self.peaks[0], self._reads), max(self.peaks[1], writes)]
