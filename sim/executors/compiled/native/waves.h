// Waveforms as the models write them, to a file that is there already.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <verilated_vcd_c.h>

#include <cerrno>
#include <system_error>

namespace cyscc {

// Verilator ends the process when a file cannot be written; this one remembers why, for somebody who can say so.
class WaveFile : public VerilatedVcdFile {
public:
    bool open(const std::string& name) override {
        descriptor_ = ::open(name.c_str(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
        if (descriptor_ < 0) error_ = errno;
        return descriptor_ >= 0;
    }

    void close() override {
        if (descriptor_ >= 0 && ::close(descriptor_) && !error_) error_ = errno;
        descriptor_ = -1;
    }

    ssize_t write(const char* bytes, ssize_t count) override {
        if (error_) return count;
        const ssize_t written = ::write(descriptor_, bytes, count);
        if (written >= 0) return written;
        if (errno == EINTR || errno == EAGAIN) return 0;
        error_ = errno;
        return count;
    }

    void check() const {
        if (error_) throw std::system_error(error_, std::generic_category(), "the waveforms cannot be written");
    }

private:
    int descriptor_ = -1;
    int error_ = 0;
};

}  // namespace cyscc
