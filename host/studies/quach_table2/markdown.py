"""Table 2 of Quach et al. 2012 for people: Markdown."""

from typing import Any

from host.results.table_text import markdown_table
from host.words import counted, place

__all__ = ["table2_markdown"]


def table2_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown: times and ratios beside the text's, then what was counted.

    Parameters
    ----------
    document : dict
        What `host.studies.quach_table2.document.table2_document` returned.
    """
    where = place(document["device"], document["threads"])
    head = (
        "# Table 2 of Quach et al. 2012: concurrent pivots against Tarjan's algorithm\n\n"
        f"G(n, m) graphs, seed {document['seed']}. {document['processor']}; `quach` on {where}, "
        f"{counted(document['pivots'], 'pivot')} at a time, `tarjan` on 1 thread; best of three runs.\n"
        "The text's: Core 2 Duo E6850 and GeForce GTX 560 Ti, averages of five runs; its time has what the device "
        "takes to start.\n"
    )
    times = [
        [
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            f"{row['tarjan']:.2f}",
            f"{row['quach']:.2f}",
            f"{row['ratio']:.2f}",
            f"{row['paper']['tarjan']:,}",
            f"{row['paper']['quach']:,}",
            f"{row['paper']['ratio']:.2f}",
        ]
        for row in document["rows"]
    ]
    names = {
        "prune_rounds": "rounds of pruning",
        "pruned": "pruned",
        "levels": "levels",
        "components_searched": "found by searches",
        "pivots_wasted": "pivots wasted",
        "edges_pruning": "edges, pruning",
        "edges": "edges",
        "edges_by_pivot": "edges, by pivot",
    }
    counts = [
        [
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            *(f"{row['counts'][name]:,}" for name in names),
            f"{row['paper']['prune']:,}",
        ]
        for row in document["rows"]
    ]
    return "\n".join(
        [
            head,
            "Milliseconds; the ratio is the time of `tarjan` by that of `quach`.\n",
            markdown_table(
                ["n", "m", "tarjan", "quach", "ratio", "text: C++", "text: CUDA", "text: ratio"], times, words=0
            ),
            "What was counted, and the text's time of pruning.\n",
            markdown_table(["n", "m", *names.values(), "text: prune (ms)"], counts, words=0),
        ]
    )
