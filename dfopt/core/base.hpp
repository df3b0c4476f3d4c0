// What every part of the core uses: arrays of NumPy, and random numbers of its own.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

// Builds a function for newer CPUs too, where the system lets the library choose between both when
// it is loaded. Only for loops over integers: the results are the same.
#if defined(__x86_64__) && defined(__GLIBC__)
#define DFOPT_FOR_NEWER_CPUS __attribute__((target_clones("default", "avx2")))
#else
#define DFOPT_FOR_NEWER_CPUS
#endif

namespace dfopt {

using Cost = std::int64_t;

// More than any cost; nothing is ever added to it.
constexpr Cost impossible = std::numeric_limits<Cost>::max();

// Arrays of NumPy that the core reads.
template <typename Row> using Rows = std::span<const Row>;
using Integers = Rows<std::int64_t>;
using Flags = Rows<bool>;

// Marsaglia's xorshift: the same numbers with every compiler and on every machine.
class Random {
  public:
    // `seed` must not be 0; similar seeds should have been mixed before.
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    // Returns one of 0 … limit - 1, all equally likely; `limit` is below 2^31.
    template <typename Index> Index below(Index limit) {
        return static_cast<Index>(next() * static_cast<std::uint64_t>(limit) >> 31);
    }

    // Returns a number above 0, at most 1.
    double uniform() { return static_cast<double>(next() + 1) * 0x1p-31; }

    // Returns whether annealing makes a move by which things get worse by `rise` (Metropolis et al.
    // 1953; Kirkpatrick, Gelatt and Vecchi 1983).
    bool accepts(double rise, double temperature) {
        return rise <= 0 || uniform() <= std::exp(-rise / temperature);
    }

  private:
    // Returns 31 random bits.
    std::uint64_t next() {
        bits_ ^= bits_ << 13;
        bits_ ^= bits_ >> 7;
        bits_ ^= bits_ << 17;
        return bits_ >> 32 & 0x7fffffff;
    }

    std::uint64_t bits_;
};

} // namespace dfopt
