// Annealing of a stretch, as Python calls it.

#include "../calls.hpp"
#include "annealing.hpp"

#include <cmath>

namespace dfopt::stretch {

namespace {

template <typename Row> std::vector<Row> copied(Rows<Row> rows) {
    return {rows.begin(), rows.end()};
}

// `calendar_times` are the begin of the first cell and the length of a cell; `calendar` has as many
// cells for each of the `cpus`.
Annealing* annealing(Rows<Element> elements, Index dispatches, Rows<Block> blocks,
                     Integers calendar, Index cpus, Time calendar_begin, Time cell, Integers matrix,
                     Rows<Bounds> bounds, Time waits, std::int64_t long_waits, double wait_price,
                     double long_wait_price, Rows<double> chances, std::uint64_t seed) {
    if (bounds.size() != 1 || cpus == 0 || std::ssize(calendar) % cpus != 0 ||
        dispatches > std::ssize(elements)) {
        return nullptr;
    }
    const auto width = static_cast<Index>(std::sqrt(static_cast<double>(matrix.size())));
    Surroundings around{
        dispatches,
        {copied(blocks), copied(calendar), calendar_begin, cell, std::ssize(calendar) / cpus},
        copied(matrix),
        width,
        bounds[0],
    };
    return new Annealing(std::move(around), copied(elements), {0, 0, waits, long_waits},
                         {wait_price, long_wait_price}, copied(chances), seed);
}

// How many elements are late, or are first dispatches of visits; and one of them.
Index late_count(const Annealing& annealing) { return annealing.stretch().late().size(); }
Index late(const Annealing& annealing, Index place) { return annealing.stretch().late()[place]; }
Index opener_count(const Annealing& annealing) { return annealing.stretch().openers().size(); }
Index opener(const Annealing& annealing, Index place) {
    return annealing.stretch().openers()[place];
}

// Writes the CPU and the start of each dispatch, and the totals.
std::int64_t schedule(const Annealing& annealing, std::span<std::int64_t> cpu,
                      std::span<Time> start, std::span<Totals> totals) {
    const Stretch& stretch = annealing.stretch();
    const auto dispatches = static_cast<std::size_t>(stretch.dispatches());
    if (cpu.size() != dispatches || start.size() != dispatches || totals.size() != 1) return -1;
    for (Index element = 0; element < stretch.dispatches(); ++element) {
        cpu[element] = stretch[element].cpu;
        start[element] = stretch[element].start;
    }
    totals[0] = stretch.totals();
    return 0;
}

} // namespace

DFOPT_CREATOR(StretchAnnealing, Annealing, &annealing)
DFOPT_FUNCTION(StretchAnnealing_settle, &Annealing::settle)
DFOPT_FUNCTION(StretchAnnealing_anneal, &Annealing::anneal)
DFOPT_FUNCTION(StretchAnnealing_keep, &Annealing::keep)
DFOPT_FUNCTION(StretchAnnealing_go_back_if_worse, &Annealing::go_back_if_worse)
DFOPT_FUNCTION(StretchAnnealing_take_cheapest, &Annealing::take_cheapest)
DFOPT_FUNCTION(StretchAnnealing_late_count, &late_count)
DFOPT_FUNCTION(StretchAnnealing_late, &late)
DFOPT_FUNCTION(StretchAnnealing_opener_count, &opener_count)
DFOPT_FUNCTION(StretchAnnealing_opener, &opener)
DFOPT_FUNCTION(StretchAnnealing_write, &schedule)

} // namespace dfopt::stretch
