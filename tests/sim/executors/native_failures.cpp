// A machine that fails as its setup asks, behind the interface in C; and threads that the system refuses.
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

#include "interface.h"
#include "team.h"

namespace cyscc {

class FailingMachine : public Machine {
public:
    explicit FailingMachine(const Setup& setup)
        : Machine(setup), team_(int(setup.threads), 2, 2, break_third, nullptr) {
        if (setup.watchdog == 1) throw std::bad_alloc();
        if (setup.watchdog == 2) throw 2;
        if (setup.watchdog == 3) throw std::runtime_error("");
    }

protected:
    void advance(int64_t) override { team_.run(setup_.threads > 1); }

private:
    static void break_third(void*, int part) {
        if (part == 3) throw std::runtime_error("part 3 is broken");
    }

    Team team_;
};

Machine* make_machine(const Setup& setup) { return new FailingMachine(setup); }

}  // namespace cyscc

static bool refuse_threads = false;

CYSCC_EXPORT void refuse(int refused) { refuse_threads = refused; }

// std::thread asks for its threads here.
void std::thread::_M_start_thread(_State_ptr state, void (*)()) {
    if (refuse_threads) throw std::system_error(EAGAIN, std::generic_category());
    auto* owned = state.release();
    pthread_t handle;
    pthread_create(&handle, nullptr, [](void* it) -> void* {
        std::unique_ptr<_State>(static_cast<_State*>(it))->_M_run();
        return nullptr;
    }, owned);
    _M_id = id(handle);
}
