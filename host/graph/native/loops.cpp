// Loops over edges, vertices and lines of text that every run needs; see host/graph/loops.py for their arguments.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <strings.h>

namespace {

// A field of a graph word.
struct Field {
    uint64_t shift, mask;
    uint64_t of(uint64_t word) const { return word >> shift & mask; }
};

constexpr uint32_t kUnlabelled = UINT32_MAX;

constexpr int64_t kMostDigits = 19;
constexpr std::string_view kBanner = "%%matrixmarket";

bool is_blank(uint8_t letter) { return letter == ' ' || letter == '\t'; }
bool is_digit(uint8_t letter) { return '0' <= letter && letter <= '9'; }

// Whether a text, in which a line ends, begins with a word in small letters or others.
bool begins(const uint8_t* text, std::string_view word) {
    return strncasecmp(reinterpret_cast<const char*>(text), word.data(), word.size()) == 0;
}

// Moves a place in a text behind digits; returns how many there are.
int64_t digits(const uint8_t* text, int64_t& at) {
    const int64_t first = at;
    while (is_digit(text[at])) ++at;
    return at - first;
}

// Moves a place in a text behind a decimal number, `nan`, `inf` or `infinity`; returns whether there is one.
bool number(const uint8_t* text, int64_t& at) {
    at += text[at] == '+' || text[at] == '-';
    for (const std::string_view word : {"infinity", "inf", "nan"}) {
        if (is_digit(text[at])) break;
        if (begins(text + at, word)) {
            at += int64_t(word.size());
            return true;
        }
    }
    int64_t found = digits(text, at);
    if (text[at] == '.') found += digits(text, ++at);
    if (found == 0 || (text[at] | 32) != 'e') return found > 0;
    ++at;
    at += text[at] == '+' || text[at] == '-';
    return digits(text, at) > 0;
}

// Moves a place in a text to the end of a comment; returns whether it is no banner and has no byte 0.
bool comment(const uint8_t* text, int64_t& at) {
    const uint8_t* const begin = text + at;
    while (text[at] != '\n') ++at;
    return !begins(begin, kBanner) && std::find(begin, text + at, 0) == text + at;
}

}  // namespace

#define CYSCC_EXPORT extern "C" __attribute__((visibility("default")))

// ---- Graphs in CSR form

// Turns zeroed offsets (count + 2) into the start of each value's run, shifted up by one place.
CYSCC_EXPORT void cyscc_count(const uint32_t* values, int64_t size, int64_t* offsets, int64_t count) {
    for (int64_t index = 0; index < size; ++index) ++offsets[int64_t(values[index]) + 2];
    for (int64_t index = 2; index < count + 2; ++index) offsets[index] += offsets[index - 1];
}

// Appends each value to the run of its key; advances offsets[1:] from run starts to run ends.
CYSCC_EXPORT void cyscc_scatter(const uint32_t* keys, const uint32_t* values, int64_t size, int64_t* offsets,
                                uint32_t* sorted) {
    for (int64_t index = 0; index < size; ++index) sorted[offsets[int64_t(keys[index]) + 1]++] = values[index];
}

// Scatters the row numbers of a CSR matrix by column.
CYSCC_EXPORT void cyscc_scatter_rows(const int64_t* rows, int64_t count, const uint32_t* columns, int64_t* offsets,
                                     uint32_t* sorted) {
    for (int64_t row = 0; row < count; ++row) {
        for (int64_t index = rows[row]; index < rows[row + 1]; ++index) {
            sorted[offsets[int64_t(columns[index]) + 1]++] = uint32_t(row);
        }
    }
}

// Marks, in each row of a square CSR matrix, the first of equal off-diagonal entries, and counts the marks. `met`,
// zeroed, stores for each column the last row, counted from 1, with an entry in it.
CYSCC_EXPORT void cyscc_mark_first(const int64_t* rows, int64_t count, const uint32_t* columns, uint32_t* met,
                                   uint8_t* kept, int64_t* offsets) {
    for (int64_t row = 0; row < count; ++row) {
        const uint32_t number = uint32_t(row + 1);
        met[row] = number;
        int64_t marks = 0;
        for (int64_t index = rows[row]; index < rows[row + 1]; ++index) {
            uint32_t& last = met[columns[index]];
            kept[index] = last != number;
            marks += last != number;
            last = number;
        }
        offsets[row + 1] = offsets[row] + marks;
    }
}

// ---- Graphs in the machine's memory

// Digests of the blocks of an array of ids: sums of ids, each times the key of its position.
CYSCC_EXPORT void cyscc_digest(const uint32_t* ids, int64_t size, const uint64_t* keys, int64_t of_block,
                               uint64_t* digests) {
    for (int64_t first = 0; first < size; first += of_block) {
        uint64_t total = 0;
        const int64_t end = std::min(of_block, size - first);
        for (int64_t place = 0; place < end; ++place) total += ids[first + place] * keys[place];
        *digests++ = total;
    }
}

// Graph words of fields start, degree and visited.
CYSCC_EXPORT void cyscc_write_words(const int64_t* offsets, const uint8_t* visited, uint64_t* words, int64_t vertices,
                                    const Field* fields) {
    for (int64_t vertex = 0; vertex < vertices; ++vertex) {
        const uint64_t start = uint64_t(offsets[vertex]), degree = uint64_t(offsets[vertex + 1]) - start;
        words[vertex] =
            start << fields[0].shift | degree << fields[1].shift | uint64_t(visited[vertex]) << fields[2].shift;
    }
}

// Finds the number of wrong graph words, the first of them, and the number of correct ones that hold a level, of fields
// start, degree, visited and level.
CYSCC_EXPORT void cyscc_wrong_words(const int64_t* offsets, const uint64_t* words, int64_t vertices, int64_t levels,
                                    const Field* fields, int64_t* found) {
    const Field start = fields[0], degree = fields[1], visited = fields[2], level = fields[3];
    const uint64_t level_bits = level.mask << level.shift | visited.mask << visited.shift;
    int64_t wrong = 0, first = -1, holding = 0;
    for (int64_t vertex = 0; vertex < vertices; ++vertex) {
        const uint64_t word = words[vertex];
        bool right;
        if (levels && (word >> visited.shift & 1)) {
            right = (word & ~level_bits) == 0;
            holding += right;
        } else {
            const uint64_t begin = uint64_t(offsets[vertex]);
            right = start.of(word) == begin && degree.of(word) == uint64_t(offsets[vertex + 1]) - begin;
        }
        if (!right && wrong++ == 0) first = vertex;
    }
    found[0] = wrong;
    found[1] = first;
    found[2] = holding;
}

// ---- Queues and colours that the machine wrote

// The first entry of a frontier, of fields start and degree, whose neighbours lie beyond the edges; their number if none.
CYSCC_EXPORT int64_t cyscc_first_beyond(const uint64_t* frontier, int64_t size, int64_t edges, const Field* fields) {
    for (int64_t place = 0; place < size; ++place) {
        if (int64_t(fields[0].of(frontier[place]) + fields[1].of(frontier[place])) > edges) return place;
    }
    return size;
}

// Counts the distinct vertices of each part of a reach queue, and their edges; returns the entries that are no vertices.
CYSCC_EXPORT int64_t cyscc_distinct(const uint64_t* words, const uint32_t* reach, const int64_t* counts, int64_t parts,
                                    uint32_t* stamps, int64_t vertices, int64_t stamp, const Field* degree,
                                    int64_t* found) {
    int64_t beyond = 0;
    for (int64_t part = 0; part < parts; ++part) {
        for (const uint32_t* const end = reach + counts[part]; reach != end; ++reach) {
            const uint32_t vertex = *reach;
            if (vertex >= vertices) {
                ++beyond;
            } else if (stamps[vertex] != uint32_t(stamp)) {
                stamps[vertex] = uint32_t(stamp);
                ++found[2 * part];
                found[2 * part + 1] += int64_t(degree->of(words[vertex]));
            }
        }
    }
    return beyond;
}

// The first vertex from `begin` on whose colour is 0, or the number of vertices.
CYSCC_EXPORT int64_t cyscc_first_uncoloured(const uint32_t* colours, int64_t vertices, int64_t begin) {
    return std::find(colours + begin, colours + vertices, 0u) - colours;
}

// ---- The reference in software

// Labels each vertex with the first one of its component that the search met. `cursor` is the next edge of each vertex
// to inspect; `order`, zeroed, becomes the order in which vertices are met, from 1, and `lowest` the lowest order on the
// stack that each one reaches. `labels` are all ones at first.
CYSCC_EXPORT void cyscc_label(const int64_t* offsets, const uint32_t* targets, int64_t vertices, int64_t* cursor,
                              uint32_t* order, uint32_t* lowest, uint32_t* path, uint32_t* stack, uint32_t* labels) {
    uint32_t seen = 0;
    int64_t height = 0;
    for (int64_t root = 0; root < vertices; ++root) {
        if (order[root]) continue;
        int64_t depth = 0;
        const auto meet = [&](uint32_t vertex) {
            order[vertex] = lowest[vertex] = ++seen;
            stack[height++] = vertex;
            path[depth++] = vertex;
        };
        meet(uint32_t(root));
        while (depth) {
            const uint32_t vertex = path[depth - 1];
            if (cursor[vertex] < offsets[vertex + 1]) {
                const uint32_t target = targets[cursor[vertex]++];
                if (!order[target]) {
                    meet(target);
                } else if (labels[target] == kUnlabelled) {
                    lowest[vertex] = std::min(lowest[vertex], order[target]);
                }
                continue;
            }
            --depth;
            if (depth) lowest[path[depth - 1]] = std::min(lowest[path[depth - 1]], lowest[vertex]);
            if (lowest[vertex] != order[vertex]) continue;
            while (labels[vertex] == kUnlabelled) labels[stack[--height]] = vertex;
        }
    }
}

// The distance of each vertex from a source; `levels` are -1 at first.
CYSCC_EXPORT void cyscc_bfs(const int64_t* offsets, const uint32_t* targets, int64_t source, int32_t* levels,
                            uint32_t* queue) {
    uint32_t *head = queue, *tail = queue;
    *tail++ = uint32_t(source);
    levels[source] = 0;
    while (head != tail) {
        const uint32_t vertex = *head++;
        for (int64_t index = offsets[vertex]; index < offsets[vertex + 1]; ++index) {
            const uint32_t target = targets[index];
            if (levels[target] >= 0) continue;
            levels[target] = levels[vertex] + 1;
            *tail++ = target;
        }
    }
}

// ---- Text

// How lines of a file are read.
struct Lines {
    int64_t letter;  // that begins each row, 0 for none
    int64_t fewest, most, alike;  // columns, and whether all rows have the same number of them
    int64_t columns;  // of ids
    int64_t weighed;  // whether rows have a probability and perhaps a word
};

// What has been read.
struct State {
    int64_t usual, first;  // columns of the first row, or 0 before it, and the number of its line
    int64_t room;  // rows that are left to come
    int64_t line;  // number of the first line, and afterwards of the line behind the last right one
};

// Parses lines, each ending with LF, up to the first wrong one; returns the rows. `ids` has a row of `stride` for each
// column; `places` five of them: of transitions the number of each row's line, and where its probability and its word
// begin and end.
CYSCC_EXPORT int64_t cyscc_scan(const uint8_t* text, int64_t size, const uint8_t* comments, int64_t comment_count,
                                const int64_t* limits, const Lines* how, int64_t* ids, int64_t* places,
                                int64_t stride, State* state) {
    int64_t at = 0, rows = 0, line = state->line;
    const auto skip_blanks = [&] {
        while (is_blank(text[at])) ++at;
    };
    for (bool valid = true; valid && at < size; ++at, line += valid) {
        skip_blanks();
        if (std::find(comments, comments + comment_count, text[at]) != comments + comment_count) {
            valid = comment(text, at);
            continue;
        }
        if (text[at] == '\n') continue;
        // The letter is in front of the columns.
        int64_t columns = how->letter ? -1 : 0;
        for (; valid && text[at] != '\n'; ++columns) {
            const int64_t begin = at;
            if (columns < 0) {
                valid = text[at++] == how->letter;
            } else if (columns < how->columns) {
                uint64_t number = 0;
                for (; is_digit(text[at]); ++at) number = 10 * number + (text[at] - '0');
                ids[columns * stride + rows] = int64_t(number);
                // Up to so many digits, a number that is beyond 63 bits has become negative.
                int64_t digits = at - begin;
                while (digits > kMostDigits && text[at - digits] == '0') --digits;
                const int64_t* const limit = limits + 2 * columns;
                valid = digits <= kMostDigits && limit[0] <= int64_t(number) && int64_t(number) <= limit[1];
            } else if (how->weighed) {
                while (!is_blank(text[at]) && text[at] != '\n') ++at;
                if (columns < how->most) {
                    const int64_t place = 1 + 2 * (columns - how->columns);
                    places[place * stride + rows] = begin;
                    places[(place + 1) * stride + rows] = at;
                }
            } else {
                valid = number(text, at);
            }
            const int64_t end = at;
            skip_blanks();
            valid &= end > begin && (at > end || text[at] == '\n');
        }
        if (state->usual == 0) {
            state->usual = columns;
            state->first = line;
        }
        valid &= how->fewest <= columns && columns <= how->most && (!how->alike || columns == state->usual) &&
                 rows < state->room;
        if (how->weighed) {
            places[rows] = line;
            if (columns == how->columns + 1) places[3 * stride + rows] = places[4 * stride + rows] = at;
        }
        rows += valid;
    }
    state->room -= rows;
    state->line = line;
    return rows;
}

// ---- Analysis

// Passes requests through a crossbar, where a port whose head passes takes the next of their links; finds the numbers
// of requests and of cycles. The links of the heads come first, and change.
CYSCC_EXPORT void cyscc_crossbar(int64_t* links, int64_t ports, int64_t count, const int64_t* chances,
                                 int64_t chance_count, int64_t link_count, int64_t* found) {
    std::vector<int64_t> contenders(link_count), winners(link_count);
    int64_t cycles = 0, passed = 0, place = 0;
    while (passed < count) {
        ++cycles;
        std::fill(contenders.begin(), contenders.end(), 0);
        for (int64_t port = 0; port < ports; ++port) {
            const int64_t link = links[port];
            // The n-th contender replaces the current winner with probability 1/n, so all have the same chance.
            if (chances[place] % ++contenders[link] == 0) winners[link] = port;
            place = (place + 1) % chance_count;
        }
        for (int64_t link = 0; link < link_count; ++link) {
            if (contenders[link] > 0) links[winners[link]] = links[ports + passed++];
        }
    }
    found[0] = passed;
    found[1] = cycles;
}

// ---- Atomic operations for steps on the processor, which numba's code calls; see host/baselines/devices/cpu.py

namespace {

constexpr auto kOrder = std::memory_order_relaxed;

template <class Word>
std::atomic_ref<Word> at(int64_t address) {
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(uintptr_t(address)));
}

// Replaces an element by a value that comes before it in an order, or after it; signed, as all integers of steps.
template <class Word, class Before>
int64_t replace(int64_t address, Word value, Before before) {
    Word old = at<Word>(address).load(kOrder);
    while (before(old, value) && !at<Word>(address).compare_exchange_weak(old, value, kOrder)) {}
    return old;
}

template <class Word>
int64_t swap(int64_t address, Word expected, Word value) {
    at<Word>(address).compare_exchange_strong(expected, value, kOrder);
    return expected;
}

}  // namespace

// They are of elements at an address, and return the old value.
#define CYSCC_ATOMICS(BITS, WORD)                                                                                    \
    CYSCC_ATOMIC(add, BITS, at<WORD>(address).fetch_add(WORD(value), kOrder))                                        \
    CYSCC_ATOMIC(and_, BITS, at<WORD>(address).fetch_and(WORD(value), kOrder))                                       \
    CYSCC_ATOMIC(or_, BITS, at<WORD>(address).fetch_or(WORD(value), kOrder))                                         \
    CYSCC_ATOMIC(exchange, BITS, at<WORD>(address).exchange(WORD(value), kOrder))                                    \
    CYSCC_ATOMIC(maximum, BITS, replace(address, WORD(value), std::less<WORD>()))                                    \
    CYSCC_ATOMIC(minimum, BITS, replace(address, WORD(value), std::greater<WORD>()))                                 \
    CYSCC_EXPORT int64_t cyscc_atomic_swap##BITS(int64_t address, int64_t expected, int64_t value) {                 \
        return swap(address, WORD(expected), WORD(value));                                                           \
    }
#define CYSCC_ATOMIC(NAME, BITS, RESULT) \
    CYSCC_EXPORT int64_t cyscc_atomic_##NAME##BITS(int64_t address, int64_t value) { return RESULT; }

CYSCC_ATOMICS(32, int32_t)
CYSCC_ATOMICS(64, int64_t)
