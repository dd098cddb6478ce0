"""Templates of constraints for the vendor's tools."""

from hw.config import AcceleratorConfig

__all__ = ["constraints"]

_XDC = """\
# Timing constraints for Vivado: a template. {clock:g} MHz is the clock of the configuration; take the board's own.
create_clock -name {port} -period {period:.3f} [get_ports {port}]

# On a board the ports lead to other logic of the same clock, and need nothing more. To implement the engine alone, give
# that logic's share of the period:
# set_input_delay  -clock {port} [expr 0.4 * {period:.3f}] [get_ports -filter {{DIRECTION == IN && NAME != {port}}}]
# set_output_delay -clock {port} [expr 0.4 * {period:.3f}] [get_ports -filter {{DIRECTION == OUT}}]
"""
_UCF = """\
# Timing constraints for ISE (Virtex-5, Virtex-6): a template. The personality's clock is {clock:g} MHz.
NET "{port}" TNM_NET = "{port}";
TIMESPEC "TS_{port}" = PERIOD "{port}" {period:.3f} ns HIGH 50%;

# The vendor's shell constrains the memory, dispatch and AE-to-AE signals: they stay on the chip. To implement the
# engine alone, give that logic's share of the period:
# OFFSET = IN {half:.3f} ns VALID {period:.3f} ns BEFORE "{port}";
# OFFSET = OUT {half:.3f} ns AFTER "{port}";
"""
_TEMPLATES = {
    "ae": ("application_engine.xdc", _XDC, "clk"),
    "convey": ("application_engine_convey.ucf", _UCF, "clk"),
    "axi": ("application_engine_axi.xdc", _XDC, "aclk"),
}


def constraints(top: str, config: AcceleratorConfig) -> tuple[str, str]:
    """Return file name and text of a top's template of constraints.

    Parameters
    ----------
    top : str
        Kind of top.
    config : AcceleratorConfig
        The machine: its clock.
    """
    name, template, port = _TEMPLATES[top]
    period = 1000 / config.clock_mhz
    return name, template.format(clock=config.clock_mhz, period=period, half=period / 2, port=port)
