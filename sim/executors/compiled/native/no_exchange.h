// What a module has whose kernels exchange nothing.
#pragma once

namespace cyscc {

struct NoExchange {
    static constexpr bool kThere = false;
};

}  // namespace cyscc
