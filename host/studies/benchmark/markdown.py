"""A benchmark for people: Markdown."""

from typing import Any

from host.results.table_text import markdown_table

__all__ = ["benchmark_markdown"]

_HEAD = (
    *("", "graph", "cycles", "cycles/s", "kernel-cycles/s", "edges/s", "same"),
    *("2 threads is", "1 thread is", "memory", "build"),
)


def _factor(row: dict[str, Any], name: str) -> str:
    return f"{row['faster'][name]:.1f} x" if name in row["faster"] else ""


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "unavailable" in row:
        return (row["label"], *[""] * (len(_HEAD) - 1))
    return (
        row["label"],
        row["workload"],
        f"{row['cycles']:,}",
        f"{row['cycles_per_second']:,.0f}",
        f"{row['kernel_cycles_per_second']:,.0f}",
        f"{row['edges_per_second']:,.0f}",
        {True: "yes", False: "NO", None: ""}[row["same"]],
        _factor(row, "compiled-2"),
        _factor(row, "compiled-1"),
        f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB",
        f"{row['build_seconds']:.1f} s",
    )


def benchmark_markdown(document: dict[str, Any]) -> str:
    """Return the table of `host.studies.benchmark.rows.run_benchmark`'s document, with what it was measured on."""
    machine, revision = document["machine"], document["revision"] or "not in a repository"
    lines = [
        f"configuration {document['config']}, memory {document['memory']}; {machine['processor']}, "
        f"{machine['cores']} cores; revision {revision}",
        "",
        markdown_table(_HEAD, [_cells(row) for row in document["rows"]]),
        "same: cycles of every level and memory contents are those of the compiled executor; "
        "2 threads is, 1 thread is: how many times as fast that runs on the same graph",
    ]
    lines += [f"{row['label']}: {row['unavailable']}" for row in document["rows"] if "unavailable" in row]
    lines += [f"warning: {warning}" for warning in document["warnings"]]
    return "\n".join(lines) + "\n"
