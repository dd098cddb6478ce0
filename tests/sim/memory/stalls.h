namespace cyscc::memory {

template <class Self>
struct Stalls : Stress<Self> {
    static uint64_t drawn(const Parameters& p, Side& side, int64_t port) {
        const int64_t serial = ++side.own.serial[port];
        return draw(stream(p.seed, side.number, port, 0), serial);
    }
    static int64_t read_back(const Parameters& p, Side& side, int64_t port, const Request& request) {
        const uint64_t word = drawn(p, side, port);
        return cycle_of(request) + 2 + int64_t(word >> 8 & 15) + (word & 7 ? 0 : 40);
    }
    static int64_t written(const Parameters& p, Side& side, int64_t port, const Request& request) {
        return cycle_of(request) + 2 + int64_t(drawn(p, side, port) >> 8 & 31);
    }
    static Stalled stalled(const Parameters& p, const Side& side, int64_t cycle) {
        const uint64_t key = stream(p.seed, side.number, 1, 0);
        const uint64_t stalls = draw(key, 2 * cycle) & draw(key, 2 * cycle + 1);
        return {int64_t(stalls & 0xFFFFFFFF), int64_t(stalls >> 32)};
    }
};

}  // namespace cyscc::memory
