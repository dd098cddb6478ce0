"""Lives in one intersection kernel: reach queue entries, through processes 1 to 4."""

import numpy as np

from cyscc.sim.observation.life.lives import Fate, Life, Stage
from cyscc.sim.observation.life.reads import port_cycles, reads
from cyscc.sim.observation.life.window import NEVER, Column, Cycles, KernelWindow, after, matched, spans_of

_REACH_ENTRY = 4
"""Bytes of an entry of a reach queue: an id."""


def intersection_lives(window: KernelWindow) -> list[Life]:
    """Return the reach queue entries whose read is requested in the window, in order."""
    entries = reads(window, "reach_reader", fifo="id_fifo", output="entries")
    own = reads(window, "classifier", fifo="word_fifo", output="outsiders")
    count = len(entries.asked)
    colours = window.when("colour_reader.credits.take")
    words = window.passes("reach_reader.entries")
    # An entry is taken with its second read: in the first cycle one may be between its two reads.
    between = int(len(words) > 0 and (len(colours) == 0 or words[0] < colours[0]))
    away = window.away("colour_reader")
    decided_later = away - window.initial("colour_reader.candidates__valid")
    first = entries.before - between  # colours asked for in the window before those of its entries
    coloured = matched(colours, first, count)
    worded = matched(words, entries.before, count)
    unanswered = decided_later - between - window.initial("colour_reader.word_fifo.level")
    answered = matched(window.when("colour_reader.word_response__valid"), unanswered + entries.before, count)
    joined = matched(window.when("colour_reader.join"), decided_later + first, count)
    decided = matched(window.passes("colour_reader.candidates"), away + first, count)
    reach_port, _, word_port, own_port = port_cycles(window, entries.asked, colours, words, own.asked)
    word_port = matched(word_port, entries.before, count)

    # For rejected entries, the read of the own word is granted in the cycle of the decision.
    rank = np.searchsorted(own.asked, np.minimum(decided, window.cycles))
    rejected = np.append(own.asked, NEVER)[rank] == decided
    rejected &= decided != NEVER
    rank = np.where(rejected, rank, len(own.asked))

    def of_own(cycles: Cycles) -> Cycles:
        return np.append(cycles, NEVER)[rank]

    offered, run = window.offered(entries.asked)
    source = [
        window.source_waits(number, writes=number > 2, starved=starved)
        for number, starved in enumerate(
            ["reach_reader.starved", "colour_reader.starved", "classifier.starved", None, None]
        )
    ]
    third = {wait: mask | source[3].get(wait, False) for wait, mask in source[2].items()}
    columns = [
        Column(Stage.ENTRY_OFFERED, offered, after(entries.asked), source[0]),
        Column(Stage.ENTRY_PORT, after(entries.asked), after(reach_port)),
        Column(Stage.ENTRY_MEMORY, after(reach_port), after(entries.answered)),
        Column(Stage.ENTRY_KEPT, after(entries.answered), after(coloured), source[1]),
        Column(Stage.OTHER_OFFERED, after(coloured), after(worded), source[1]),
        Column(Stage.OTHER_PORT, after(worded), after(word_port)),
        Column(Stage.OTHER_MEMORY, after(word_port), after(answered)),
        Column(Stage.OTHER_KEPT, after(answered), after(joined)),
        Column(Stage.CANDIDATE, after(joined), after(decided), third),
        Column(Stage.OWN_PORT, np.where(rejected, after(decided), NEVER), after(of_own(own_port))),
        Column(Stage.OWN_MEMORY, after(of_own(own_port)), after(of_own(own.answered))),
        Column(Stage.UNVISIT, after(of_own(own.answered)), after(of_own(own.taken)), source[4]),
    ]
    spans = spans_of(columns, start=window.first, cycles=window.cycles)
    painted = window.high("classifier.painted")
    ids = window.values("reach_reader.response__payload")
    bases = window.values("reach_reader.command__payload.base")[entries.asked]
    forward = bases == window.values("control.register_forward_queue")[entries.asked]
    indices = window.values("reach_reader.command__payload.index")[entries.asked]
    graphs = window.values("control.register_words")[entries.asked].tolist()
    others = window.values("control.register_transposed_words")[entries.asked].tolist()
    unvisited = of_own(own.taken)
    lives = []
    for number in range(count):
        graph = (graphs if forward[number] else others)[number]
        life = Life(kernel=window.name, run=int(run[number]), neighbour=False, index=int(indices[number]), graph=graph)
        life.queue = "forward" if forward[number] else "backward"
        life.address = int(bases[number]) + life.index * _REACH_ENTRY
        life.spans = spans[number]
        if entries.answered[number] != NEVER:
            life.vertex = int(ids[entries.answered[number]])
        if rejected[number]:
            life.fate = Fate.UNDER_WAY if unvisited[number] == NEVER else Fate.UNVISITED
        elif decided[number] != NEVER:
            life.fate = Fate.COLOURED if painted[decided[number]] else Fate.COLOURED_ALREADY
        lives.append(life)
    return lives
