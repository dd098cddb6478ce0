// Makes a recorded run again, without Python: replay INTERVAL ROUND WATCHDOG THREADS, in the folder of the recording.
//
// `image` is the memory, for a certain address; `steps` has the addresses of context and mailboxes, the parts of a round,
// and then the steps: 0, count, and pairs of a place in the image and the word that the host has put there; 1, count, and commands of three
// words; 2, and the budget of a run. Each run prints its state, cycles, a digest of the memory, and the answers.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "config.h"
#include "machine.h"
#include "memory_code.h"

extern "C" {
cyscc::Machine* cyscc_create(const cyscc::Setup*);
void cyscc_destroy(cyscc::Machine*);
void cyscc_begin(cyscc::Machine*, const cyscc::Command*, int);
int cyscc_run(cyscc::Machine*, int64_t);
int64_t cyscc_cycle(const cyscc::Machine*);
int64_t cyscc_instruction_cycles(const cyscc::Machine*);
void cyscc_answers(const cyscc::Machine*, uint64_t*);
void cyscc_sample(cyscc::Machine*, int64_t*);
const char* cyscc_failure();
}

namespace {

std::vector<uint64_t> read_words(const char* name) {
    std::ifstream file(name, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<uint64_t> words(bytes.size() / 8);
    std::memcpy(words.data(), bytes.data(), 8 * words.size());
    return words;
}

void check() {
    if (!*cyscc_failure()) return;
    std::fprintf(stderr, "%s\n", cyscc_failure());
    std::exit(1);
}

}  // namespace

int main(int, char** arguments) {
    using namespace cyscc;
    const auto contents = read_words("image"), steps = read_words("steps");
    const size_t size = 8 * contents.size();
    void* const base = mmap(reinterpret_cast<void*>(kBase), size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (base != reinterpret_cast<void*>(kBase)) return std::perror("mmap"), 1;
    auto* const image = static_cast<uint64_t*>(base);
    std::memcpy(image, contents.data(), size);

    Setup setup{};
    setup.memory = memory_functions();
    setup.memory.context = reinterpret_cast<void*>(steps[0]);
    setup.memory.mailboxes = reinterpret_cast<Mailbox*>(steps[1]);
    setup.memory.parts = int64_t(steps[2]);
    int64_t* const numbers[] = {&setup.interval, &setup.round, &setup.watchdog, &setup.threads};
    for (int64_t* number : numbers) *number = std::atoll(*++arguments);
    Machine* const machine = cyscc_create(&setup);
    check();
    size_t reads = 0;
    for (auto step = steps.begin() + 3; step != steps.end();) {
        const uint64_t kind = *step++, count = *step++;
        if (kind == 0) {
            for (uint64_t n = 0; n < count; ++n, step += 2) image[step[0]] = step[1];
        } else if (kind == 1) {
            std::vector<Command> commands;
            reads = 0;
            for (uint64_t n = 0; n < count; ++n, step += 3) {
                commands.push_back({int64_t(step[0]), int64_t(step[1]), step[2]});
                reads += step[0] == kRead;
            }
            cyscc_begin(machine, commands.data(), int(count));
        } else {
            const int state = cyscc_run(machine, int64_t(count));
            const bool done = state == kDone;
            uint64_t digest = 0;
            for (size_t n = 0; n < contents.size(); ++n) digest += image[n] * (2 * n + 1);
            std::printf("%d %lld %lld %llu", state, (long long)cyscc_cycle(machine),
                        done ? (long long)cyscc_instruction_cycles(machine) : 0, (unsigned long long)digest);
            std::vector<uint64_t> answers(done ? reads * kEngines : 0);
            if (done) cyscc_answers(machine, answers.data());
            for (uint64_t answer : answers) std::printf(" %llu", (unsigned long long)answer);
            std::printf("\n");
        }
        check();
    }
    std::vector<int64_t> rows(kEngines * kRowWords);
    cyscc_sample(machine, rows.data());
    std::printf("sample");
    for (int64_t count : rows) std::printf(" %lld", (long long)count);
    std::printf("\n");
    cyscc_destroy(machine);
    std::ofstream("left", std::ios::binary).write(static_cast<const char*>(base), std::streamsize(size));
}
