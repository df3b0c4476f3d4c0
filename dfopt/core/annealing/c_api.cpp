// Annealing of a schedule, as Python calls it.

#include "../calls.hpp"
#include "annealing.hpp"

namespace dfopt::annealing {

namespace {

// The arrays are those of TraceRows, in this order.
Annealing* annealing(Rows<Dispatch> dispatches, Rows<Dispatch> fixed, Rows<Cut> cuts,
                     Rows<Time> latest, Integers matrix, Index fragments, Index cpus,
                     Rows<Bounds> bounds, double wait_price, double long_wait_price,
                     Rows<double> chances, std::uint64_t seed) {
    const TraceRows trace{dispatches, fixed, cuts, latest, matrix, fragments, cpus};
    if (!trace.fits() || bounds.size() != 1) return nullptr;
    return new Annealing(trace, bounds[0], {wait_price, long_wait_price}, chances, seed);
}

// The number of elements that are late, and the last dispatch before one of them, or that itself.
Index late_count(const Annealing& annealing) { return annealing.orders().late().size(); }
Index late(const Annealing& annealing, Index place) {
    const TimedOrders& orders = annealing.orders();
    Index element = orders.late()[place];
    while (orders[element].role != Role::moves && orders[element].before != none) {
        element = orders[element].before;
    }
    return element;
}

// The number of dispatches that open visits, of those that are watched; and one of them.
Index opener_count(const Annealing& annealing) { return annealing.orders().openers().size(); }
Index opener(const Annealing& annealing, Index place) {
    return annealing.orders().openers()[place];
}

} // namespace

DFOPT_CREATOR(ScheduleAnnealing, Annealing, &annealing)
DFOPT_FUNCTION(ScheduleAnnealing_settle, &Annealing::settle)
DFOPT_FUNCTION(ScheduleAnnealing_anneal, &Annealing::anneal)
DFOPT_FUNCTION(ScheduleAnnealing_watch, &Annealing::watch)
DFOPT_FUNCTION(ScheduleAnnealing_opener_count, &opener_count)
DFOPT_FUNCTION(ScheduleAnnealing_opener, &opener)
DFOPT_FUNCTION(ScheduleAnnealing_keep, &Annealing::keep)
DFOPT_FUNCTION(ScheduleAnnealing_keep_if_better, &Annealing::keep_if_better)
DFOPT_FUNCTION(ScheduleAnnealing_go_back_if_worse, &Annealing::go_back_if_worse)
DFOPT_FUNCTION(ScheduleAnnealing_placements, &Annealing::placements)
DFOPT_FUNCTION(ScheduleAnnealing_late_count, &late_count)
DFOPT_FUNCTION(ScheduleAnnealing_late, &late)

} // namespace dfopt::annealing
