// Searches for schedules of traces and for bounds, and the patient rule, as Python calls them.

#include "../calls.hpp"
#include "patient_rule.hpp"
#include "prices.hpp"
#include "sections.hpp"

#include <algorithm>
#include <array>

namespace dfopt {

namespace {

constexpr std::int64_t misfit = -1;

} // namespace

namespace beam {

// The arrays are those of TraceRows, in this order.
Sections* sections(Rows<Dispatch> dispatches, Rows<Dispatch> fixed, Rows<Cut> cuts,
                   Rows<Time> latest, Integers matrix, Index fragments, Index cpus,
                   Rows<Time> ready, bool gives_way) {
    const TraceRows trace{dispatches, fixed, cuts, latest, matrix, fragments, cpus};
    if (!trace.fits() || ready.size() != dispatches.size()) return nullptr;
    return new Sections(trace, ready, gives_way);
}

std::int64_t take(Sections& sections, Index begin, Index end, Rows<Limits> limits, Time wait,
                  Rows<Settings> settings) {
    if (limits.size() != 1 || settings.size() != 1) return misfit;
    sections.take(begin, end, limits[0], wait, settings[0]);
    return 0;
}

Index place(Sections& sections, Index dispatches) { return sections.search().place(dispatches); }

// Finds the best schedule of the section. Writes by how much the cost, the sum of all waits and the
// number of long ones change, and what the guide costs. Returns whether there is one.
std::int64_t find(Sections& sections, std::span<std::int64_t> changes) {
    if (changes.size() != 4) return misfit;
    const std::optional<Found>& found = sections.find();
    if (!found) return 0;
    std::ranges::copy(std::array{found->cost, found->wait, found->long_waits, found->guide_cost},
                      changes.begin());
    return 1;
}

DFOPT_CREATOR(Sections, Sections, &sections)
DFOPT_FUNCTION(Sections_cuts, &Sections::cuts)
DFOPT_FUNCTION(Sections_take, &take)
DFOPT_FUNCTION(Sections_place, &place)
DFOPT_FUNCTION(Sections_find, &find)
DFOPT_FUNCTION(Sections_put_back, &Sections::put_back)
DFOPT_FUNCTION(Sections_placements, &Sections::placements)

} // namespace beam

namespace patience {

// The arrays are those of Recording, in this order.
PatientRule* patient_rule(Rows<Dispatch> dispatches, Integers taken, Rows<Cut> cuts,
                          Integers hurry_from, Index cpus, Time patience) {
    if (hurry_from.size() > dispatches.size()) return nullptr;
    return new PatientRule({dispatches, taken, cuts, hurry_from}, cpus, patience);
}

DFOPT_CREATOR(PatientRule, PatientRule, &patient_rule)
DFOPT_FUNCTION(PatientRule_run, &PatientRule::run)
DFOPT_FUNCTION(PatientRule_placements, &PatientRule::placements)

} // namespace patience

namespace prices {

// Lowers prices; see `fit`.
std::int64_t fit_prices(Rows<Slots> conditions, std::span<Cost> room, std::span<Cost> prices) {
    if (prices.size() != conditions.size()) return misfit;
    fit(conditions, room, prices);
    return 0;
}

DFOPT_FUNCTION(fit_prices, &fit_prices)

} // namespace prices

} // namespace dfopt
