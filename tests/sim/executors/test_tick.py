"""The function that advances a model: direct for the models as they are built, the usual evaluations for all else."""

import re
from pathlib import Path

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.compiled import parts
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.executors.compiled.verilated import tick_function
from tests.sim.executors.toolchain import Toolchain

GENERAL = """
namespace cyscc {
void tick(%s& model) {
    model.clk = 0;
    model.eval();
    model.clk = 1;
    model.eval();
}
}  // namespace cyscc
"""

TWO_CLOCKS = """
module KERNEL(input clk, input other, input d, output reg q, output reg r);
  always @(posedge clk) q <= d;
  always @(posedge other) r <= q;
endmodule
"""

REGION = """
void Vm___024root___eval_{region}(Vm___024root* vlSelf) {{
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vm___024root___eval_{region}\\n"); );
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
{body}
}}
"""

GUARDED = """\
    if ((1ULL & vlSelfRef.__V{region}Triggered[0U])) {{
        Vm_{region}_first(vlSelf);
        Vm_{region}_second(vlSelf);
    }}"""

DIRECT = """
namespace cyscc {
void tick(Vm& model) {
    Vm_ico_first(model.rootp);
    Vm_ico_second(model.rootp);
    Vm_nba_first(model.rootp);
    Vm_nba_second(model.rootp);
}
}  // namespace cyscc
"""


def tick_of_a_build(folder: Path, monkeypatch: pytest.MonkeyPatch, *, config: str) -> tuple[str, str]:
    """Build a machine with an empty compiler; return the generated code of its BFS kernel, and the function."""
    seen: list[str] = []

    def spy(name: str, code: str) -> str:
        if name == "Vbfs_kernel":
            seen.extend((code, tick_function(name, code)))
        return ""

    Toolchain.install(folder, monkeypatch)
    monkeypatch.setattr(parts, "tick_function", spy)
    build_library(PRESETS[config], waves=False, objects=True)
    code, lines = seen
    return code, lines


def regions(*, ico: str, nba: str) -> str:
    """Return generated code, as it were, with these bodies of its regions."""
    return "".join(REGION.format(region=region, body=body) for region, body in (("ico", ico), ("nba", nba)))


def guarded(region: str) -> str:
    return GUARDED.format(region=region)


@pytest.mark.parametrize("config", ["hc2", "published-1ae"])
def test_kernel_as_built_has_the_direct_form(config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, lines = tick_of_a_build(tmp_path, monkeypatch, config=config)
    head, *calls, end, close = lines.strip().splitlines()[1:]
    assert (head, end, close) == ("void tick(Vbfs_kernel& model) {", "}", "}  // namespace cyscc")
    called = [re.fullmatch(r"    (\w+)\(model\.rootp\);", call) for call in calls]
    functions = [match[1] for match in called if match]
    assert len(functions) == len(calls)
    kinds = [re.sub(r".*___(ico|nba)_sequent.*", r"\1", function) for function in functions]
    assert kinds == sorted(kinds)
    assert set(kinds) == {"ico", "nba"}
    for function in functions:
        assert code.count(f"void {function}(Vbfs_kernel___024root* vlSelf) {{") == 1


def test_real_model_with_two_clocks_is_evaluated_as_usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "flattened_verilog", lambda *_, name, **__: TWO_CLOCKS.replace("KERNEL", name))
    code, lines = tick_of_a_build(tmp_path, monkeypatch, config="test")
    assert "Vbfs_kernel___024root___eval_nba(" in code
    assert lines == GENERAL % "Vbfs_kernel"


def test_direct_form_keeps_the_order_of_calls() -> None:
    assert tick_function("Vm", regions(ico=guarded("ico"), nba=guarded("nba"))) == DIRECT


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("", id="no region"),
        pytest.param(regions(ico="", nba=guarded("nba")), id="empty region"),
        pytest.param(REGION.format(region="nba", body=guarded("nba")), id="no input logic"),
        pytest.param(REGION.format(region="ico", body=guarded("ico")), id="no registers"),
        pytest.param(regions(ico=guarded("ico"), nba=guarded("nba").replace("1ULL", "3ULL")), id="two triggers"),
        pytest.param(regions(ico=guarded("ico"), nba=guarded("nba").replace("[0U]", "[1U]")), id="other trigger"),
        pytest.param(regions(ico=guarded("ico"), nba=f"{guarded('nba')}\n{guarded('nba')}"), id="two guards"),
        pytest.param(regions(ico=guarded("ico"), nba=f"{guarded('nba')}\n    vlSelfRef.a = 1;"), id="statement after"),
        pytest.param(regions(ico=f"    vlSelfRef.a = 1;\n{guarded('ico')}", nba=guarded("nba")), id="statement before"),
        pytest.param(
            regions(ico=guarded("ico"), nba=guarded("nba").replace("first(vlSelf)", "first(vlSelf, 1)")), id="argument"
        ),
        pytest.param(
            regions(ico=guarded("ico"), nba=guarded("nba").replace("Vm_nba_second(vlSelf)", "vlSelfRef.a = 1")),
            id="statement inside",
        ),
        pytest.param(regions(ico=guarded("ico"), nba=guarded("nba")).replace("Vm___", "Vn___"), id="other model"),
    ],
)
def test_anything_else_is_evaluated_as_usual(code: str) -> None:
    assert tick_function("Vm", code) == GENERAL % "Vm"
