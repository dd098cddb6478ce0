"""The function that advances a Verilated model by a cycle, as directly as its generated code allows."""

import re

__all__ = ["tick_function"]

_CALL = re.compile(r"if \(\(1ULL & vlSelfRef\.__V(?:ico|nba)Triggered\[0U\]\)\) \{\s*((?:\w+\(vlSelf\);\s*)+)\}")

_GENERAL = """\
    model.clk = 0;
    model.eval();
    model.clk = 1;
    model.eval();
"""


def tick_function(name: str, code: str) -> str:
    """Return C++ that defines ``cyscc::tick`` of a model, to be compiled together with the model's code.

    A Verilated model's ``eval`` asks on every call whether it was initialised, which inputs changed, whether the clock
    rose, and whether all of that has to be repeated. A model with one clock, combinational inputs and registered
    outputs needs none of it: its input logic, then its registers. Where the generated code has just this form, these
    two are called by themselves; otherwise the usual two evaluations are made.

    Parameters
    ----------
    name : str
        Prefix of the model's class.
    code : str
        All generated code of the model.
    """
    calls = [_calls(name, code, region) for region in ("ico", "nba")]
    lines = _GENERAL
    if all(calls):
        lines = "".join(f"    {call}(model.rootp);\n" for region in calls if region for call in region)
    return f"\nnamespace cyscc {{\nvoid tick({name}& model) {{\n{lines}}}\n}}  // namespace cyscc\n"


def _calls(name: str, code: str, region: str) -> list[str] | None:
    """Return the functions of a region of the model's evaluation, or None if it is not a plain list of them."""
    match = re.search(
        rf"^void {name}___024root___eval_{region}\([^;{{]*\) \{{\n(.*?)^\}}", code, re.DOTALL | re.MULTILINE
    )
    if match is None:
        return None
    body = match[1].partition("// Body\n")[2].strip()
    guarded = _CALL.fullmatch(body)
    return None if guarded is None else re.findall(r"(\w+)\(vlSelf\);", guarded[1])
