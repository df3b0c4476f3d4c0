// Annealing of a stretch, as Python calls it.

#include "annealing.hpp"

#include <cmath>

namespace dfopt::stretch {

// `calendar_times` are the begin of the first cell and the length of a cell; `calendar` has as many
// cells for each of the `cpus`. Python destroys what it gets; it gets nothing if the arrays do not
// fit.
DFOPT_EXPORT Annealing* dfopt_stretch_create(Array<const Element> elements, std::int64_t dispatches,
                                             Array<const Block> blocks, Array<const Index> calendar,
                                             std::int64_t cpus, Time calendar_begin, Time cell,
                                             Array<const Cost> matrix, Array<const Bounds> bounds,
                                             Time waits, std::int64_t long_waits, double wait_price,
                                             double long_wait_price, Array<const double> chances,
                                             std::uint64_t seed) {
    if (!elements.fits() || !blocks.fits() || !calendar.fits() || !matrix.fits() ||
        !bounds.fits() || !chances.fits() || bounds.rows != 1 || cpus == 0 ||
        calendar.rows % cpus != 0 || dispatches > elements.rows) {
        return nullptr;
    }
    const auto width = static_cast<Index>(std::sqrt(static_cast<double>(matrix.rows)));
    Surroundings around{
        dispatches,
        {blocks.copied(), calendar.copied(), calendar_begin, cell, calendar.rows / cpus},
        matrix.copied(),
        width,
        *bounds.data,
    };
    return new Annealing(std::move(around), elements.copied(), {0, 0, waits, long_waits},
                         {wait_price, long_wait_price}, chances.copied(), seed);
}

DFOPT_EXPORT void dfopt_stretch_destroy(Annealing* annealing) { delete annealing; }

DFOPT_EXPORT std::int64_t dfopt_stretch_settle(Annealing* annealing) { return annealing->settle(); }

DFOPT_EXPORT void dfopt_stretch_anneal(Annealing* annealing, Index low, Index high,
                                       std::int64_t changes, double temperature, double cost_price,
                                       double late_price) {
    annealing->anneal(low, high, changes, temperature, cost_price, late_price);
}

DFOPT_EXPORT void dfopt_stretch_keep(Annealing* annealing) { annealing->keep(); }

DFOPT_EXPORT void dfopt_stretch_go_back_if_worse(Annealing* annealing) {
    annealing->go_back_if_worse();
}

DFOPT_EXPORT void dfopt_stretch_take_cheapest(Annealing* annealing) { annealing->take_cheapest(); }

// How many elements are late, or are first dispatches of visits; and one of them.
DFOPT_EXPORT Index dfopt_stretch_late_count(const Annealing* annealing) {
    return annealing->stretch().late().size();
}

DFOPT_EXPORT Index dfopt_stretch_late(const Annealing* annealing, Index place) {
    return annealing->stretch().late()[place];
}

DFOPT_EXPORT Index dfopt_stretch_opener_count(const Annealing* annealing) {
    return annealing->stretch().openers().size();
}

DFOPT_EXPORT Index dfopt_stretch_opener(const Annealing* annealing, Index place) {
    return annealing->stretch().openers()[place];
}

// Writes the CPU and the start of each dispatch, and the totals.
DFOPT_EXPORT std::int64_t dfopt_stretch_schedule(const Annealing* annealing,
                                                 Array<std::int64_t> cpu, Array<Time> start,
                                                 Array<Totals> totals) {
    const Stretch& stretch = annealing->stretch();
    if (!cpu.fits() || !start.fits() || !totals.fits() || cpu.rows != stretch.dispatches() ||
        start.rows != stretch.dispatches() || totals.rows != 1) {
        return bad_arrays;
    }
    for (Index element = 0; element < stretch.dispatches(); ++element) {
        cpu.data[element] = stretch[element].cpu;
        start.data[element] = stretch[element].start;
    }
    *totals.data = stretch.totals();
    return 0;
}

} // namespace dfopt::stretch
