"""Layout of the memory model's state: word offsets in the context, mailboxes, and the arrays behind them.

All of it is 64-bit words. The context holds numbers and addresses and is all that the compiled functions are given;
its first two words, and the mailbox, are for the engines as well. A "lane" is what belongs to one engine: only
`prepare`, `accept` and `deliver` of that engine touch it. A "batch" holds the requests of one engine and round.
"""

from dataclasses import dataclass

__all__ = [
    "BASE_ADDRESS",
    "FLUSH",
    "MAX_ENGINES",
    "MAX_PORTS",
    "READ",
    "WRITE",
    "MailboxLayout",
    "PayloadLayout",
    "as_word",
    "box_array_words",
    "mailbox_layout",
]

MAX_ENGINES = 4
MAX_PORTS = 32
BASE_ADDRESS = 4096
NEVER = 2**62
READ, WRITE, FLUSH = 0, 1, 2
HC2, FIXED, STRESS = 0, 1, 2

# Context
CTX_MAILBOX = 0
CTX_MAILBOX_WORDS = 1
CTX_BOX_ARRAY = 2
CTX_ENGINES = 3
CTX_PORTS = 4
CTX_KIND = 5
CTX_STORAGE = 6
CTX_TOP = 7
CTX_LANES = 8
CTX_BATCH_BYTES = 9
CTX_BATCH_DEPTH = 10
CTX_ACCEPTED = 11
CTX_SERVED = 12
CTX_DELIVERED = 13
CTX_DUE = 14
CTX_RESPONSES = 15
CTX_RESPONSE_DEPTH = 16
CTX_WRITES = 17
CTX_WRITE_DEPTH = 18
CTX_FLUSHES = 19
CTX_BANKS = 20
CTX_ENTRIES = 21
CTX_ENTRY_BLOCKS = 22
CTX_RETURNS = 23
CTX_RETURN_BLOCKS = 24
CTX_STATISTICS = 25
CTX_SERVICE = 26
CTX_ADDRESS_MASK = 27
CTX_SIZE_BIT = 28
CTX_TAG_SHIFT = 29
CTX_TAG_MASK = 30
CTX_REQUEST_TRAVEL = 31
CTX_BANK_BUSY = 32
CTX_RESPONSE_TRAVEL = 33
CTX_FLUSH_TRAVEL = 34
CTX_PORT_QUEUE = 35
CTX_READ_LIMIT = 36
CTX_WRITE_LIMIT = 37
CTX_LATENCY = 38
CTX_SEED = 39
CTX_SETTLED = 40
CTX_ERROR = 41
CONTEXT_WORDS = 48

# An error: these words at CTX_ERROR of the context, at LANE_ERROR of a lane and at SERVICE_ERROR
ERROR_CODE, ERROR_KIND, ERROR_VALUE, ERROR_ENGINE, ERROR_PORT, ERROR_CYCLE = range(6)
ERROR_WORDS = 6
OUTSIDE, MISALIGNED, NOT_READY, MALFORMED, LOG_FULL, RING_FULL, CALENDAR_FULL, LATE = range(1, 9)

# Mailbox; at BOX_REQUESTS are the masks of reads, writes and flushes, in the order of the kinds
BOX_READ_READY = 0
BOX_WRITE_READY = 1
BOX_RESPONSES = 2
BOX_FLUSHED = 3
BOX_REQUESTS = 4
BOX_TAGS = 8
REQUESTS_PER_PORT = 3

# Lane: single words, then one word a port for each of the rest
LANE_CYCLE = 0
LANE_SOONEST = 1
LANE_NEXT_FLUSH = 2
LANE_LATEST_ENTRY = 3
LANE_READS_FULL = 4
LANE_WRITES_FULL = 5
LANE_FAR = 6
LANE_BLOCK = 7
LANE_ERROR = 8
LANE_ENTERED = 16
LANE_READS = LANE_ENTERED + MAX_PORTS
LANE_WRITES = LANE_READS + MAX_PORTS
LANE_RESPONSE_HEAD = LANE_WRITES + MAX_PORTS
LANE_RESPONSE_TAIL = LANE_RESPONSE_HEAD + MAX_PORTS
LANE_FLUSH_DUE = LANE_RESPONSE_TAIL + MAX_PORTS
LANE_FLUSH_HEAD = LANE_FLUSH_DUE + MAX_PORTS
LANE_FLUSH_TAIL = LANE_FLUSH_HEAD + MAX_PORTS
LANE_WRITE_HEAD = LANE_FLUSH_TAIL + MAX_PORTS
LANE_WRITE_TAIL = LANE_WRITE_HEAD + MAX_PORTS
LANE_LAST_SEEN = LANE_WRITE_TAIL + MAX_PORTS
LANE_LAST_ACKNOWLEDGED = LANE_LAST_SEEN + MAX_PORTS
LANE_LAST_WRITTEN = LANE_LAST_ACKNOWLEDGED + MAX_PORTS
LANE_LAST_FLUSHED = LANE_LAST_WRITTEN + MAX_PORTS
LANE_SERIAL = LANE_LAST_FLUSHED + MAX_PORTS
LANE_READ_STALLS = LANE_SERIAL + MAX_PORTS
LANE_WRITE_STALLS = LANE_READ_STALLS + MAX_PORTS
LANE_WORDS = LANE_WRITE_STALLS + MAX_PORTS

# Batch: how many requests, and how many of them are served; then the requests, of these words each. Serving puts the
# data of a read in place of LOG_DATA, and in place of LOG_TIME, the link entry, when the memory has done its part.
BATCHES = 3
BATCH_COUNT = 0
BATCH_SERVED = 1
LOG_WHEN = 0  # cycle << 16 | port << 8 | kind
LOG_PAYLOAD = 1
LOG_DATA = 2
LOG_TIME = 3
LOG_WORDS = 4
LOG_SHIFT = 5  # of the bytes of a request

# Responses of the next cycles: masks of the ports, one a cycle, and after them the responses themselves, a row a cycle
# as in the mailbox. Later ones wait in a ring for each port (seen << 16 | tag, data), which takes longer; reads of the
# machine at work, whose memory has the profile `hc2`, take 440 cycles at most.
NEAR = 512
RESPONSE_WORDS = 2
FLUSH_DEPTH = 64
TAG_BITS_LIMIT = 16
LINE_WORDS = 8

# Bank (when it is free, accesses)
BANK_WORDS = 2

# Statistics of an engine
STAT_READS4 = 0
STAT_READS8 = 1
STAT_WRITES4 = 2
STAT_WRITES8 = 3
STAT_FLUSHES = 4
STAT_LATENCY_EXCESS = 5
STAT_LATENCY_MAX = 6
STAT_LINK_WAIT = 7
STAT_ORDER_WAIT = 8
STAT_HISTOGRAM = 16
HISTOGRAM_BINS = 2048
STAT_WORDS = STAT_HISTOGRAM + HISTOGRAM_BINS

# What serving counts, the row that the calendars of return links have come to, and an error
SERVICE_BANK_WAIT = 0
SERVICE_RETURN_WAIT = 1
SERVICE_BLOCK = 2
SERVICE_ERROR = 3
SERVICE_WORDS = 16


@dataclass(frozen=True, kw_only=True)
class MailboxLayout:
    """Word offsets in one engine's mailbox.

    Parameters
    ----------
    read_ready, write_ready : int
        Masks of the ports that take a read, or a write, in this cycle; bit p is port p.
    responses, flushed : int
        Masks of the ports that see a response, or a completed flush, in this cycle.
    reads, writes, flushes : int
        Masks of the ports that hand over a request of the kind in this cycle; the engine sets them, `accept` clears
        them.
    tags, data : int
        First of one word a port: tag and data of its response. A port that sees none has the words of an earlier one.
    read_payloads, write_payloads, write_data : int
        First of one word a port: the payload of its read, and payload and data of its write.
    words : int
        Length of one engine's mailbox, a whole number of cache lines.
    """

    read_ready: int
    write_ready: int
    responses: int
    flushed: int
    reads: int
    writes: int
    flushes: int
    tags: int
    data: int
    read_payloads: int
    write_payloads: int
    write_data: int
    words: int


def mailbox_layout(ports: int) -> MailboxLayout:
    """Return where the parts of a mailbox for `ports` ports are.

    Raises
    ------
    ValueError
        If there are not 1 to 32 ports.
    """
    if not 1 <= ports <= MAX_PORTS:
        raise ValueError(f"ports must be from 1 to {MAX_PORTS}, not {ports!r}")
    array = box_array_words(ports)
    return MailboxLayout(
        read_ready=BOX_READ_READY,
        write_ready=BOX_WRITE_READY,
        responses=BOX_RESPONSES,
        flushed=BOX_FLUSHED,
        reads=BOX_REQUESTS + READ,
        writes=BOX_REQUESTS + WRITE,
        flushes=BOX_REQUESTS + FLUSH,
        tags=BOX_TAGS,
        data=BOX_TAGS + array,
        read_payloads=BOX_TAGS + 2 * array,
        write_payloads=BOX_TAGS + 3 * array,
        write_data=BOX_TAGS + 4 * array,
        words=BOX_TAGS + 5 * array,
    )


def as_word(number: int) -> int:
    """Return the low 64 bits of a number as the signed word that a mailbox holds."""
    word = number & 0xFFFF_FFFF_FFFF_FFFF
    return word - (word >> 63 << 64)


def box_array_words(ports: int) -> int:
    """Return the words of one of a mailbox's arrays: one a port, in whole cache lines."""
    return -(-ports // LINE_WORDS) * LINE_WORDS


@dataclass(frozen=True, kw_only=True)
class PayloadLayout:
    """Fields of a request's payload word, as the hardware packs them.

    Parameters
    ----------
    address_bits : int
        Width of the byte address, which is in the lowest bits.
    size_bit : int
        Position of the size: 0 for 4 bytes, 1 for 8.
    tag_shift, tag_bits : int
        Position and width (at most 16) of the tag that comes back with the data of a read.

    Raises
    ------
    ValueError
        If a field is empty, too wide, or overlaps another.
    """

    address_bits: int = 48
    size_bit: int = 48
    tag_shift: int = 49
    tag_bits: int = 15

    def __post_init__(self) -> None:
        """Refuse fields that do not fit."""
        if not 13 <= self.address_bits <= 48:
            raise ValueError(f"address_bits must be from 13 to 48, not {self.address_bits!r}")
        if not self.address_bits <= self.size_bit <= 63:
            raise ValueError(f"size_bit must be from {self.address_bits} to 63, not {self.size_bit!r}")
        if not 1 <= self.tag_bits <= TAG_BITS_LIMIT:
            raise ValueError(f"tag_bits must be from 1 to {TAG_BITS_LIMIT}, not {self.tag_bits!r}")
        if not self.address_bits <= self.tag_shift <= 64 - self.tag_bits:
            raise ValueError(
                f"tag_shift must be from {self.address_bits} to {64 - self.tag_bits}, not {self.tag_shift!r}"
            )
        if self.tag_shift <= self.size_bit < self.tag_shift + self.tag_bits:
            raise ValueError(f"size_bit must be outside the tag, not {self.size_bit!r}")
