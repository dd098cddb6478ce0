"""A queueing model of kernels, token, crossbar and banks, which runs synthetic traffic of a level (compiled).

It has the machine's queues, credits, priorities and latencies, but neither its registers nor its data. Of the memory it
has the links, which a port enters in order, the banks, and the links back; a read's answer comes in the port's order.
Of a switch it has the crosspoint queues and the places for answers; of an exchange the queues at the owners, each of
which takes an id a cycle and plane.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.host.record.arrow import Integers
from cyscc.sim import hardware
from cyscc.sim.memory.compiling import jit

__all__ = ["DROPPED", "NOTHING", "PLAIN", "READ_AGAIN", "WRITTEN", "Machine", "Memory", "Stream", "modelled"]

NOTHING, WRITTEN, READ_AGAIN, DROPPED = 0, 1, 2, 3
"""Fate of an edge, or of an entry of an intersection: nothing follows its word; it is pushed, or coloured; the own word
is read and written (intersections); its word is not read (searches with a filter)."""

_PUSH, _UNVISIT = 3, 4
"""Requests besides the reads for the first three rings."""

_QUEUE = hardware.QUEUE_CYCLES
_MUX = hardware.MUX_CYCLES
_WRITES = hardware.WRITES_PER_VISIT
_REGISTERS = hardware.QUEUE_REGISTERS
_THERE, _BACK = hardware.SWITCH_CYCLES - hardware.SWITCH_BACK, hardware.SWITCH_BACK
_ANSWERS = hardware.SWITCH_ANSWERS
_EXCHANGE, _PLACES, _FILTER = hardware.EXCHANGE_CYCLES, hardware.EXCHANGE_PLACES, hardware.FILTER_CYCLES
_DRAINED = 3
"""Cycles from the last id of an AE until its kernels know that none is to come."""
_NEVER = 1 << 60
_AHEAD = 1 << 11
"""Cycles for which links can be reserved ahead; a power of two."""


class Machine(NamedTuple):
    """Sizes and timing of the kernels of one kind.

    Parameters
    ----------
    engines, kernels : int
        AEs, and kernels in each.
    entries, ids, words, visits : int
        Places for entries, for ids of neighbours (pairs of colour and word), for their words (own words), and for
        vertices that wait for a slot.
    interval : int
        Cycles from a request to the next.
    blocking : bool
        Whether slots are reserved only when there is none left.
    turn, stages, launch : int
        Cycles of a turn of the token, from its master to the first kernel, and until the kernels start.
    intersects : bool
        Whether these are intersection kernels.
    paired : bool
        Whether ids of neighbours are read in aligned pairs.
    lean : bool
        Whether the ids of two visits are written together.
    together : bool
        Whether the token meets all kernels of an AE at the same time.
    ports, crosspoints : int
        Memory ports behind the switch of an AE, and requests of a kernel that wait for one of them; 0 without a switch.
    lanes : int
        Ids that a kernel can hand to the exchange in a cycle; 0 if it reads the words of its own ids.
    filtered : float
        Share of the vertices that the filter behind the exchange has a bit for.
    chunk : int
        Most edges of an entry; 0 for any number.
    """

    engines: int
    kernels: int
    entries: int
    ids: int
    words: int
    visits: int
    interval: int
    blocking: bool
    turn: int
    stages: int
    launch: int
    intersects: bool
    paired: bool
    lean: bool
    together: bool = False
    ports: int = 0
    crosspoints: int = 0
    lanes: int = 0
    filtered: float = 0.0
    chunk: int = 0


class Memory(NamedTuple):
    """Timing of a memory, in cycles.

    Parameters
    ----------
    links : int
        Links of an AE; 0 if it has neither links nor banks.
    there, served, back : float
        From the link to the bank; from the start of an access until its end; from there to the port.
    busy : float
        Time for which an access keeps its bank.
    opening, opened : float
        The same for an access that opens a row, and by how much longer that access takes.
    opens : float
        Share of the accesses that open a row.
    burst, activate : float
        Time for which an access keeps its controller, and the same of one that opens a row.
    queue, reads, writes : int
        Cycles that a port's latest request may wait for its link; reads and writes of a port in flight.
    flush : int
        Least cycles of a flush.
    of_controller : int
        Banks of a controller.
    link_of, bank_of, port_of : ndarray of int64
        Link and bank of each word, and its memory port behind a switch; a power of two of words.
    """

    links: int
    there: float
    served: float
    back: float
    busy: float
    opening: float
    opened: float
    opens: float
    burst: float
    activate: float
    queue: int
    reads: int
    writes: int
    flush: int
    of_controller: int
    link_of: Integers
    bank_of: Integers
    port_of: Integers


_UNLIMITED = 1 << 12
"""Requests of a port in flight in a memory without a limit; more than a kernel's credits allow."""

PLAIN = Memory(
    links=0,
    there=0.0,
    served=0.0,
    back=0.0,
    busy=0.0,
    opening=0.0,
    opened=0.0,
    opens=0.0,
    burst=0.0,
    activate=0.0,
    queue=_UNLIMITED,
    reads=_UNLIMITED,
    writes=_UNLIMITED,
    flush=0,
    of_controller=1,
    link_of=np.zeros(1, np.int64),
    bank_of=np.zeros(1, np.int64),
    port_of=np.zeros(1, np.int64),
)
"""A memory without contention, and without latency."""


class Stream(NamedTuple):
    """Traffic of a level, entry by entry in the order of the queue.

    Parameters
    ----------
    degrees, first, lists : ndarray of int64, shape (entries,)
        Edges of each entry, the first of them, and the place of its neighbours in their array, in ids.
    words : ndarray of int64, shape (edges,)
        Place of each neighbour's word.
    fates : ndarray of int8, shape (edges,)
        `NOTHING`, `WRITTEN`, `READ_AGAIN` or `DROPPED`.
    vertices : ndarray of int64, shape (edges,)
        Of a search, the vertex that an edge leads to, if its fate is `WRITTEN`: it is pushed by all who read its word
        before it is marked.
    pieces : ndarray of int64, shape (edges,)
        Entries of the next queue for it.
    """

    degrees: Integers
    first: Integers
    lists: Integers
    words: Integers
    fates: npt.NDArray[np.int8]
    vertices: Integers
    pieces: Integers


@jit
def _booked(taken: npt.NDArray[np.int64], link: int, cycle: int) -> int:
    """Reserve a link's first free cycle from the given one on."""
    mask = taken.shape[1] - 1
    while taken[link, cycle & mask] == cycle:
        cycle += 1
    taken[link, cycle & mask] = cycle
    return cycle


_ENTRIES, _IDS, _WORDS, _VISITS, _FRESH = range(5)
"""Rings of a kernel, between its processes; the last one has ids from the exchange."""

_PLANES = 2
"""Planes of the exchange, by the lowest bit of an id."""

_SKID = 2
"""Requests of a kernel that wait in its part of the switch, or ids that wait behind its filter."""

(
    _LEFT,
    _EDGE,
    _PLACE,
    _FOLLOWING,
    _STEP,
    _REST,
    _DEMANDED,
    _SLOTS,
    _RESERVED,
    _HELD,
    _TOKEN,
    _FIRST_TOKEN,
    _WAKE,
    _DONE,
    _ENTERED,
    _ANSWERED,
    _COMPLETED,
    _SENT,
    _SENT_WRITE,
    _PIECES,
    _SLOT,
    _STATES,
) = range(22)
"""State of a kernel: edges of its entry that are not read yet, the next of them, and the place of its id; the next
entry; the writes made of a visit; when the multiplexer rests until; vertices without a slot, slots, and slots reserved
ahead; whether requests are held; the token's next and first passage; when something can happen; when it is done; the
port's latest entry into a link, answer, and completed write; when its latest read and write entered the switch; and
pieces of a vertex that wait for a slot already; the slot that it writes to."""


@jit
def _run(machine: Machine, memory: Memory, stream: Stream, chances: npt.NDArray[np.float64]) -> tuple[int, int]:
    """Return the cycles until the last kernel is done, as `modelled`, and the vertices pushed."""
    total = machine.engines * machine.kernels
    number = stream.degrees.size
    size = 1
    while size < max(max(machine.entries, machine.ids), max(machine.words, machine.visits + 4)) + 4:
        size *= 2
    ring = size - 1
    times = np.zeros((5, total, size), np.int64)
    whose = np.zeros((5, total, size), np.int64)
    heads = np.zeros((5, total), np.int64)
    tails = np.zeros((5, total), np.int64)
    unread = _FRESH if machine.lanes else _IDS
    credits = np.zeros((3, total), np.int64)
    credits[_ENTRIES], credits[_IDS], credits[_WORDS] = machine.entries, machine.ids, machine.words
    state = np.zeros((_STATES, total), np.int64)
    for k in range(total):
        state[_FOLLOWING, k] = k
        state[_WAKE, k] = machine.launch + k % machine.kernels
        passage = machine.stages + k // machine.kernels * (machine.turn // machine.engines)
        if machine.together:
            passage -= k % machine.kernels
        state[_TOKEN, k] = state[_FIRST_TOKEN, k] = state[_WAKE, k] + passage
    state[_ENTERED] = -1

    links = max(memory.links, 1)
    ways = np.full((2, machine.engines * links, _AHEAD), -1, np.int64)
    link_mask, bank_mask = memory.link_of.size - 1, memory.bank_of.size - 1
    free = np.zeros(memory.bank_of.max() + 1)
    carried = np.zeros(free.size // memory.of_controller + 1)
    flights = 1
    while flights <= max(memory.reads, memory.writes):
        flights *= 2
    places = max(total, machine.engines * machine.ports)
    seen = np.zeros((2, places, flights), np.int64)
    issued = np.zeros((2, places), np.int64)

    # Of the switch: by kernel and port, when the latest requests left their queue, and the latest answers theirs.
    crossings = total * machine.ports if machine.ports else 1
    port_mask = memory.port_of.size - 1
    port_ways = np.full((max(machine.engines * machine.ports, 1), _AHEAD), -1, np.int64)
    waits = np.zeros((crossings, 2 * machine.crosspoints if machine.ports else 1), np.int64)
    crossed = np.zeros(crossings, np.int64)
    answers = np.zeros((crossings, _ANSWERS), np.int64)
    answered = np.zeros(crossings, np.int64)

    # Of the exchange: by owner and plane, the ids that wait; by source, how many of them; by AE, how many are to come.
    owners = machine.kernels - 1
    deep = 1
    while deep < machine.kernels * _PLACES and machine.lanes:
        deep *= 2
    ids = np.zeros((total * _PLANES, deep), np.int64)
    arrivals = np.zeros((total * _PLANES, deep), np.int64)
    sources = np.zeros((total * _PLANES, deep), np.int64)
    first = np.zeros(total * _PLANES, np.int64)
    behind = np.zeros(total * _PLANES, np.int64)
    waiting = np.zeros((total, machine.kernels * _PLANES if machine.lanes else 1), np.int64)
    coming = np.zeros(machine.engines, np.int64)
    vertices = stream.vertices.max() + 1
    met = np.zeros((machine.engines, vertices if machine.lanes else 1), np.bool_)
    if machine.lanes:
        for entry in range(number):
            coming[entry % total // machine.kernels] += stream.degrees[entry]
    marked = np.full(stream.vertices.max() + 1, _NEVER)
    chance = slot = cycle = visits = 0
    running = total
    while running:
        upcoming = _NEVER
        for place in range(total):
            k = place + cycle % total
            if k >= total:
                k -= total
            if state[_WAKE, k] > cycle:
                upcoming = min(upcoming, state[_WAKE, k])
                continue
            soon = _NEVER
            moved = False

            # The token brings slots for all vertices that wait.
            if state[_DEMANDED, k]:
                while state[_TOKEN, k] < cycle:
                    state[_TOKEN, k] += machine.turn
                if state[_RESERVED, k] == 0 and not (machine.blocking and state[_SLOTS, k]):
                    if state[_TOKEN, k] == cycle:
                        state[_RESERVED, k], state[_DEMANDED, k] = state[_DEMANDED, k], 0
                    else:
                        soon = state[_TOKEN, k]
            if state[_SLOTS, k] == 0 and state[_RESERVED, k]:
                state[_SLOTS, k], state[_RESERVED, k] = state[_RESERVED, k], 0
                moved = True

            # A neighbour's word has come: it is dropped, or waits for a slot.
            if heads[_WORDS, k] != tails[_WORDS, k] and not machine.intersects:
                spot = heads[_WORDS, k] & ring
                if times[_WORDS, k, spot] > cycle:
                    soon = min(soon, times[_WORDS, k, spot])
                else:
                    edge = whose[_WORDS, k, spot]
                    pushed = edge >= 0
                    if not pushed or tails[_VISITS, k] - heads[_VISITS, k] < machine.visits + _REGISTERS:
                        if pushed:
                            # Further pieces of a vertex are not marked.
                            whose[_VISITS, k, tails[_VISITS, k] & ring] = -1 if state[_PIECES, k] else edge
                            times[_VISITS, k, tails[_VISITS, k] & ring] = cycle + _QUEUE
                            tails[_VISITS, k] += 1
                            state[_DEMANDED, k] += 1
                            state[_PIECES, k] += 1
                        if not pushed or state[_PIECES, k] >= stream.pieces[edge]:
                            state[_PIECES, k] = 0
                            heads[_WORDS, k] += 1
                            credits[_WORDS, k] += 1
                        moved = True

            if machine.lanes:
                engine = k // machine.kernels
                # The filter takes an id a cycle in each plane, and drops it or passes it on, one a cycle.
                passed = False
                for plane in range(_PLANES):
                    place = k * _PLANES + plane
                    if first[place] == behind[place]:
                        continue
                    spot = first[place] & deep - 1
                    if arrivals[place, spot] > cycle:
                        soon = min(soon, arrivals[place, spot])
                        continue
                    edge = ids[place, spot]
                    dropped = stream.fates[edge] == DROPPED
                    vertex = stream.vertices[edge]
                    if stream.fates[edge] == WRITTEN and vertex < machine.filtered * vertices:
                        dropped = met[engine, vertex]
                    if not dropped and (passed or tails[_FRESH, k] - heads[_FRESH, k] >= _SKID + _FILTER):
                        continue
                    if not dropped:
                        passed = True
                        met[engine, vertex] |= stream.fates[edge] == WRITTEN
                        whose[_FRESH, k, tails[_FRESH, k] & ring] = edge
                        times[_FRESH, k, tails[_FRESH, k] & ring] = cycle + _FILTER
                        tails[_FRESH, k] += 1
                    source = sources[place, spot]
                    waiting[source, place % (machine.kernels * _PLANES)] -= 1
                    first[place] += 1
                    moved = True
                    coming[engine] -= 1
                    if state[_WAKE, source] > cycle + 1:
                        state[_WAKE, source] = cycle + 1
                    if coming[engine] == 0:
                        for other in range(engine * machine.kernels, (engine + 1) * machine.kernels):
                            state[_WAKE, other] = min(state[_WAKE, other], cycle + _DRAINED)
                    upcoming = min(upcoming, cycle + 1)
                # Ids that have come go to the filters of their owners, at most one in each plane.
                sent = -1
                for _ in range(machine.lanes):
                    if heads[_IDS, k] == tails[_IDS, k]:
                        break
                    spot = heads[_IDS, k] & ring
                    if times[_IDS, k, spot] > cycle:
                        soon = min(soon, times[_IDS, k, spot])
                        break
                    word = stream.words[whose[_IDS, k, spot]]
                    plane = word & 1
                    owner = (word >> 1 & owners) * _PLANES + plane
                    if sent == plane or waiting[k, owner] >= _PLACES:
                        break
                    place = engine * machine.kernels * _PLANES + owner
                    ids[place, behind[place] & deep - 1] = whose[_IDS, k, spot]
                    arrivals[place, behind[place] & deep - 1] = cycle + _EXCHANGE
                    sources[place, behind[place] & deep - 1] = k
                    behind[place] += 1
                    waiting[k, owner] += 1
                    sent = plane
                    heads[_IDS, k] += 1
                    credits[_IDS, k] += 1
                    moved = True
                    other = place // _PLANES
                    state[_WAKE, other] = min(state[_WAKE, other], cycle + _EXCHANGE)
                    upcoming = min(upcoming, cycle + _EXCHANGE)

            # The multiplexer grants a request: of the latest process that has one.
            kind = -1
            target = 0
            if state[_REST, k] > cycle:
                soon = min(soon, state[_REST, k])
            elif not (state[_HELD, k] and state[_SLOTS, k] == 0):
                readable = writable = cycle
                if machine.ports:
                    readable, writable = state[_SENT, k] - _MUX - _SKID, state[_SENT_WRITE, k] - _MUX - _SKID
                else:
                    if memory.links:
                        readable = writable = state[_ENTERED, k] - memory.queue - _MUX + 1
                    if issued[0, k] >= memory.reads:
                        readable = max(readable, seen[0, k, (issued[0, k] - memory.reads) & (flights - 1)])
                    if issued[1, k] >= memory.writes:
                        writable = max(writable, seen[1, k, (issued[1, k] - memory.writes) & (flights - 1)])
                if machine.intersects:
                    if heads[_WORDS, k] != tails[_WORDS, k]:
                        spot = heads[_WORDS, k] & ring
                        ready = max(times[_WORDS, k, spot], writable)
                        if ready <= cycle:
                            kind, target = _UNVISIT, stream.words[whose[_WORDS, k, spot]]
                            heads[_WORDS, k] += 1
                            credits[_WORDS, k] += 1
                        soon = min(soon, ready)
                elif heads[_VISITS, k] != tails[_VISITS, k] and state[_SLOTS, k]:
                    spot = heads[_VISITS, k] & ring
                    ready = max(times[_VISITS, k, spot], writable)
                    if ready <= cycle:
                        kind = _PUSH
                        # The next queue has 8 bytes for a slot, the reach queue 4.
                        if state[_STEP, k] == 0:
                            state[_SLOT, k] = slot
                            slot += 1
                        target = state[_SLOT, k] >> state[_STEP, k] // 2
                        if state[_STEP, k] == 1:
                            visits += 1
                            target = stream.words[whose[_VISITS, k, spot]]
                            vertex = stream.vertices[whose[_VISITS, k, spot]]
                            marked[vertex] = min(marked[vertex], cycle)
                    soon = min(soon, ready)
                if kind < 0 and heads[unread, k] != tails[unread, k]:
                    spot = heads[unread, k] & ring
                    ready = times[unread, k, spot]
                    edge = whose[unread, k, spot]
                    fate = stream.fates[edge]
                    if machine.intersects and fate == WRITTEN:
                        ready = max(ready, writable)
                        if ready <= cycle:
                            kind, target = _PUSH, stream.words[edge]
                    elif (fate != DROPPED or unread == _FRESH) and (fate == READ_AGAIN or not machine.intersects):
                        ready = max(ready, readable) if credits[_WORDS, k] else _NEVER
                        if ready <= cycle:
                            kind, target = _WORDS, stream.words[edge]
                            late = not machine.intersects and (
                                fate != WRITTEN or marked[stream.vertices[edge]] <= cycle
                            )
                            whose[_WORDS, k, tails[_WORDS, k] & ring] = -1 if late else edge
                            credits[_WORDS, k] -= 1
                    soon = min(soon, ready)
                    if ready <= cycle:
                        moved = True
                        heads[unread, k] += 1
                        credits[_IDS, k] += unread == _IDS
                # Of the two reads for an entry of an intersection, the first one takes the place of both.
                second = machine.intersects and state[_LEFT, k] & 1
                if kind < 0 and state[_LEFT, k] and (second or credits[_IDS, k] > machine.paired):
                    if readable <= cycle:
                        kind = _IDS
                        target = stream.words[state[_EDGE, k]] if machine.intersects else state[_PLACE, k] >> 1
                    soon = min(soon, readable)
                if kind < 0 and state[_FOLLOWING, k] < number and credits[_ENTRIES, k]:
                    if readable <= cycle:
                        kind, target = _ENTRIES, state[_FOLLOWING, k]
                        credits[_ENTRIES, k] -= 1
                        whose[_ENTRIES, k, tails[_ENTRIES, k] & ring] = state[_FOLLOWING, k]
                        state[_FOLLOWING, k] += total
                    soon = min(soon, readable)

            # The next entry is expanded.
            if state[_LEFT, k] == 0 and heads[_ENTRIES, k] != tails[_ENTRIES, k]:
                spot = heads[_ENTRIES, k] & ring
                if times[_ENTRIES, k, spot] > cycle:
                    soon = min(soon, times[_ENTRIES, k, spot])
                else:
                    entry = whose[_ENTRIES, k, spot]
                    state[_LEFT, k] = stream.degrees[entry] << machine.intersects
                    state[_EDGE, k], state[_PLACE, k] = stream.first[entry], stream.lists[entry]
                    heads[_ENTRIES, k] += 1
                    credits[_ENTRIES, k] += 1
                    moved = True

            # The request's way through the memory, and its answer.
            if kind >= 0:
                moved = True
                writes = kind >= _PUSH
                complete = cycle + _MUX
                port, cross, entered = k, 0, state[_ENTERED, k] + 1
                if machine.ports:
                    # Reads and writes wait apart, each for room in the queue of their port, and a place for the answer.
                    way = _SENT_WRITE if writes else _SENT
                    complete = max(complete, state[way, k] + 1)
                    cross = k * machine.ports + memory.port_of[target & port_mask]
                    port = k // machine.kernels * machine.ports + memory.port_of[target & port_mask]
                    if crossed[cross] >= machine.crosspoints:
                        free_from = waits[cross, (crossed[cross] - machine.crosspoints) % waits.shape[1]]
                        complete = max(complete, free_from)
                    if not writes and answered[cross] >= _ANSWERS:
                        complete = max(complete, answers[cross, answered[cross] % _ANSWERS])
                    state[way, k] = complete
                    complete += _THERE
                    limit = memory.writes if writes else memory.reads
                    if issued[int(writes), port] >= limit:
                        before = seen[int(writes), port, (issued[int(writes), port] - limit) & (flights - 1)]
                        complete = max(complete, before)
                    complete = _booked(port_ways, port, complete)
                    waits[cross, crossed[cross] % waits.shape[1]] = complete
                    crossed[cross] += 1
                    entered = 0
                if memory.links:
                    link = k // machine.kernels * links + memory.link_of[target & link_mask]
                    state[_ENTERED, k] = _booked(ways[0], link, max(complete, entered))
                    bank = memory.bank_of[target & bank_mask]
                    arrival = state[_ENTERED, k] + memory.there
                    start = max(arrival, free[bank])
                    busy, more = memory.busy, 0.0
                    if memory.burst > 0.0:
                        chance += 1
                        carrying = memory.burst
                        if chances[chance & chances.size - 1] < memory.opens:
                            busy, more = memory.opening, memory.opened
                            carrying = max(memory.burst, memory.activate)
                        controller = bank // memory.of_controller
                        start = max(start, carried[controller])
                        carried[controller] = max(arrival, carried[controller]) + carrying
                    free[bank] = start + busy
                    complete = int(np.ceil(start + more + memory.served))
                    if not writes:
                        complete = _booked(ways[1], link, complete)
                    complete = int(np.ceil(complete + memory.back))
                elif not writes:
                    complete += int(memory.there)
                seen[int(writes), port, issued[int(writes), port] & (flights - 1)] = complete
                if machine.ports and not writes:
                    complete += _BACK
                latest = _COMPLETED if writes else _ANSWERED
                state[latest, k] = max(complete, state[latest, k] + 1)
                if not machine.ports:
                    seen[int(writes), port, issued[int(writes), port] & (flights - 1)] = state[latest, k]
                elif not writes:
                    answers[cross, answered[cross] % _ANSWERS] = state[latest, k]
                    answered[cross] += 1
                issued[int(writes), port] += 1
                state[_REST, k] = cycle + machine.interval
                if kind == _IDS:
                    if second or not machine.intersects:
                        whose[_IDS, k, tails[_IDS, k] & ring] = state[_EDGE, k]
                        state[_EDGE, k] += 1
                        state[_PLACE, k] += 1
                    if not second:
                        credits[_IDS, k] -= 1
                    state[_LEFT, k] -= 1
                    if machine.paired and state[_LEFT, k] and state[_PLACE, k] & 1:
                        # The other half of the pair comes with it, to a place of its own.
                        times[_IDS, k, tails[_IDS, k] & ring] = state[_ANSWERED, k] + _QUEUE
                        tails[_IDS, k] += 1
                        whose[_IDS, k, tails[_IDS, k] & ring] = state[_EDGE, k]
                        state[_EDGE, k] += 1
                        state[_PLACE, k] += 1
                        credits[_IDS, k] -= 1
                        state[_LEFT, k] -= 1
                if kind <= _WORDS and not (kind == _IDS and machine.intersects and not second):
                    times[kind, k, tails[kind, k] & ring] = state[_ANSWERED, k] + _QUEUE
                    tails[kind, k] += 1
                if kind == _PUSH and not machine.intersects:
                    state[_STEP, k] += 1
                    if state[_STEP, k] == 1 and whose[_VISITS, k, heads[_VISITS, k] & ring] < 0:
                        state[_STEP, k] = 2
                    # With a slot behind it, every second visit leaves its id to the next one.
                    left = machine.lean and state[_SLOTS, k] > 1 and heads[_VISITS, k] & 1 == 0
                    if state[_STEP, k] < _WRITES - left:
                        state[_REST, k] = cycle + 1
                    else:
                        state[_STEP, k] = 0
                        heads[_VISITS, k] += 1
                        state[_SLOTS, k] -= 1
                        more_wait = heads[_VISITS, k] != tails[_VISITS, k]
                        state[_HELD, k] = machine.blocking and state[_SLOTS, k] == 0 and more_wait

            if moved:
                state[_WAKE, k] = cycle + 1
            else:
                idle = state[_FOLLOWING, k] >= number and state[_LEFT, k] == 0
                idle &= machine.lanes == 0 or coming[k // machine.kernels] == 0
                for queue in range(5):
                    idle &= heads[queue, k] == tails[queue, k]
                if idle:
                    state[_DONE, k] = max(cycle + memory.flush, state[_COMPLETED, k]) + 2
                    running -= 1
                state[_WAKE, k] = _NEVER if idle else max(soon, cycle + 1)
            upcoming = min(upcoming, state[_WAKE, k])
        cycle = max(upcoming, cycle + 1)
    if machine.intersects:
        return int(state[_DONE].max()), slot
    return int((state[_DONE] - state[_FIRST_TOKEN]).max()), visits


_CHANCES = np.random.default_rng(0).random(1 << 12)


def modelled(machine: Machine, memory: Memory, stream: Stream) -> tuple[int, int]:
    """Return the cycles in which the model completes some traffic, and the vertices that it pushes.

    Of an intersection, the cycles are counted from its dispatch. Of a level they are counted from the token's first
    passage of the kernel that is done last, since the level ends with a later turn of the token.

    Parameters
    ----------
    machine : Machine
        The kernels.
    memory : Memory
        Their memory.
    stream : Stream
        The traffic.
    """
    cycles, pushed = _run(machine, memory, stream, _CHANCES)
    return int(cycles), int(pushed)
