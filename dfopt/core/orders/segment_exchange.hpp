// Local search where no task waits: CPUs exchange segments of their orders.
//
// The cost of an order is a sum over neighbours. So an exchange of two segments changes only the
// switches at their ends, whatever their lengths, and millions of exchanges a second can be priced.
// Simulated annealing decides which ones are made (Kirkpatrick, Gelatt and Vecchi 1983).

#pragma once

#include "../calls.hpp"

#include <vector>

namespace dfopt::orders {

using Index = std::int32_t;

// What a CPU runs.
struct Cpu {
    std::vector<Index> order; // types, between numbers for its beginning and its end
    std::int64_t load;        // the size of its tasks
    Cost cost;

    Index length() const { return static_cast<Index>(order.size()) - 2; }
};

// A task of a type on a CPU.
struct Run {
    std::int64_t cpu, type;
};

// Tasks that follow each other on a CPU.
struct Segment {
    Index first, size;

    Index behind() const { return first + size; }
};

class SegmentExchange {
  public:
    // `between` has what it costs to go from a number (row) to a type or to the end of a CPU: n
    // types, the end, and the beginning of each CPU. `sizes` are those of the types, `runs` the
    // tasks of each CPU in their order. CPUs have room for sizes, and for `capacity` tasks. The
    // objective is the largest cost of a CPU if `by_worst`, otherwise the sum. Only a schedule that
    // costs less than `known` is kept as the best.
    SegmentExchange(Integers between, Integers sizes, Rows<Run> runs, Index cpus, std::int64_t room,
                    Index capacity, bool by_worst, Cost known, std::uint64_t seed)
        : between_(between), sizes_(sizes), columns_(sizes.size() + 1), room_(room),
          capacity_(capacity), by_worst_(by_worst), random_(seed), cpus_(cpus), best_(known) {
        const auto end = static_cast<Index>(sizes.size());
        for (Index cpu = 0; cpu < cpus; ++cpu) cpus_[cpu].order = {end + 1 + cpu};
        for (const Run& run : runs) cpus_[run.cpu].order.push_back(static_cast<Index>(run.type));
        for (Cpu& cpu : cpus_) {
            cpu.order.push_back(end);
            cpu.load = size_of(cpu, {1, cpu.length()});
            cpu.cost = path_cost(cpu, 0, cpu.length() + 1);
            total_ += cpu.cost;
        }
    }
    static bool fit(Integers between, Integers sizes, Rows<Run>, Index cpus, std::int64_t, Index,
                    bool, Cost, std::uint64_t) {
        return between.size() == (sizes.size() + 1 + cpus) * (sizes.size() + 1);
    }

    // Tries exchanges at one temperature. Returns what the best schedule so far costs.
    Cost walk(std::int64_t moves, double temperature);

    // Returns the best schedule, if one has been found: the tasks of each CPU in their order.
    Rows<Run> best();

    // Whether costs and loads are what they would be if they were added up anew.
    bool is_sound() const;

  private:
    Cost between(Index one, Index other) const { return between_[one * columns_ + other]; }
    Cost path_cost(const Cpu& cpu, Index first, Index last) const;
    std::int64_t size_of(const Cpu& cpu, Segment segment) const;
    Index block_size(const Cpu& cpu, Index place) const;
    void reverse(Cpu& cpu, Index first, Index last, double temperature);
    void shift(Cpu& cpu, Index place, Index target, bool is_block, double temperature);
    void exchange(Cpu& one, Index place, Cpu& other, Index other_place, double temperature);
    Cost change_of(const Cpu& cpu, Segment loses, const Cpu& other, Segment gains) const;
    bool is_accepted(const Cpu& cpu, Cost change, const Cpu* other, Cost other_change,
                     double temperature);
    void keep_best(Cost largest);

    const Integers between_;
    const Integers sizes_;
    const std::size_t columns_;
    const std::int64_t room_;
    const Index capacity_;
    const bool by_worst_;
    Random random_;
    std::vector<Cpu> cpus_;
    Cost total_ = 0; // of all CPUs
    Cost best_;
    std::vector<std::vector<Index>> best_orders_;
    std::vector<Run> listed_;
};

} // namespace dfopt::orders
