// What a module's first kernel gets from the shell.
#pragma once

#include <cstdint>

namespace cyscc {

inline constexpr int64_t kNever = int64_t(1) << 62;

struct Head {
    bool chain_valid, token_valid;
    uint64_t chain, token;
};

}  // namespace cyscc
