// Lines in caches with least-recently-used replacement, kept in linked lists.

#pragma once

#include "../calls.hpp"

namespace dfopt::lines {

using Time = std::int64_t;

// A line in a cache: not there, as in memory, or newer than in memory.
enum class State : std::int32_t { absent, held, written };

// A line in a cache, with its neighbours in the order of use. Behind the last line stands the end,
// where the newest follows the oldest.
struct Line {
    std::int32_t older, newer;
    State state;
};

// Counts of what the bursts of a cache's CPU did; how many lines the cache holds and can hold; and
// the cache that its CPU shares with others. For a shared cache that is the cache itself.
struct Ledger {
    std::int64_t misses, shared_hits, write_backs, invalidations, touched, far_hits;
    std::int64_t used, capacity, shared;
};

// What it takes; a hit in the shared cache of others is not asked for if it is below 0.
struct Times {
    Time miss, shared_hit, write_back;
    Time sequential_miss; // right after a miss of the line before
    Time far_hit;
};

// How a burst leaves its lines, as in dfopt/simulate.
enum class Leaves : std::int64_t { clean, dirty, invalidated };

// One cache for each CPU, then the shared ones, perhaps of no size. Python owns the arrays.
class Caches {
  public:
    Caches(std::span<Line> lines, std::span<std::int32_t> owner, std::span<Ledger> ledger,
           Rows<Times> times)
        : lines_(lines), owner_(owner), ledger_(ledger), times_(times[0]) {}
    static bool fit(std::span<Line> lines, std::span<std::int32_t> owner, std::span<Ledger> ledger,
                    Rows<Times> times) {
        return times.size() == 1 && lines.size() == ledger.size() * (owner.size() + 1);
    }

    // Lets a CPU use a stretch of lines, and returns the time that this takes. Unless they are left
    // clean, all of them are written, and, if they are invalidated, written back at once.
    Time touch(std::size_t cpu, std::int32_t first, std::int32_t number, Leaves leaves);

  private:
    Line* cache(std::size_t number) const { return &lines_[number * (owner_.size() + 1)]; }
    std::int32_t end() const { return static_cast<std::int32_t>(owner_.size()); }
    void read(std::size_t cpu, std::int32_t line, std::int32_t& last_read, Time& time);
    bool insert(std::size_t cache, std::int32_t line);
    void write(std::size_t cpu, std::int32_t line);
    bool is_far(std::int64_t shared, std::int32_t line) const;
    void move_to_front(Line* lines, std::int32_t line) const;
    void link_in_front(Line* lines, std::int32_t line) const;

    std::span<Line> lines_;         // by cache and line
    std::span<std::int32_t> owner_; // of each line 1 plus the CPU whose cache has written it, or 0
    std::span<Ledger> ledger_;      // by cache
    Times times_;
};

} // namespace dfopt::lines
