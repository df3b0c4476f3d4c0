// Annealing of a schedule, as Python calls it.

#include "../calls.hpp"
#include "annealing.hpp"

namespace dfopt::annealing {

namespace {

// The arrays are those of TraceRows, in this order.
Annealing* annealing(Rows<Dispatch> dispatches, Rows<Dispatch> fixed, Rows<Cut> cuts,
                     Rows<Time> latest, Integers matrix, Index fragments, Index cpus,
                     Rows<Bounds> bounds, Rows<double> chances, std::uint64_t seed) {
    const TraceRows trace{dispatches, fixed, cuts, latest, matrix, fragments, cpus};
    if (!trace.fits() || bounds.size() != 1) return nullptr;
    return new Annealing(trace, bounds[0], chances, seed);
}

} // namespace

DFOPT_CREATOR(ScheduleAnnealing, Annealing, &annealing)
DFOPT_FUNCTION(ScheduleAnnealing_settle, &Annealing::settle)
DFOPT_FUNCTION(ScheduleAnnealing_anneal, &Annealing::anneal)
DFOPT_FUNCTION(ScheduleAnnealing_watch, &Annealing::watch)
DFOPT_FUNCTION(ScheduleAnnealing_keep_if_cheaper, &Annealing::keep_if_cheaper)
DFOPT_FUNCTION(ScheduleAnnealing_go_back, &Annealing::go_back)
DFOPT_FUNCTION(ScheduleAnnealing_placements, &Annealing::placements)

} // namespace dfopt::annealing
