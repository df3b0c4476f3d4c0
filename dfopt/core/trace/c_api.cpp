// Searches for schedules of traces and for bounds, and the patient rule, as Python calls them.

#include "../calls.hpp"
#include "beam_search.hpp"
#include "patient_rule.hpp"
#include "prices.hpp"

#include <algorithm>
#include <array>

namespace dfopt {

namespace {

constexpr std::int64_t misfit = -1;

// Returns whether there is a begin for each of a number of groups, and an end of the last one.
bool are_begins(Integers first, std::size_t groups, Integers members) {
    return first.size() == groups + 1 && first.back() == std::ssize(members);
}

} // namespace

namespace beam {

// The arrays are those of Section, in this order.
BeamSearch* beam_search(Rows<Element> elements, Integers by_latest, Integers guided,
                        Integers guided_first, Integers woken, Integers woken_first,
                        Rows<Fixed> fixed, Rows<Cpu> cpus, Integers matrix, Rows<double> weights,
                        Rows<Limits> limits, Rows<Settings> settings) {
    const std::size_t count = by_latest.size(), fragments = weights.size();
    if (elements.size() < count || guided.size() != count || limits.size() != 1 ||
        settings.size() != 1 || (!matrix.empty() && matrix.size() != fragments * fragments) ||
        !are_begins(guided_first, cpus.size(), guided) || !are_begins(woken_first, count, woken)) {
        return nullptr;
    }
    const Section section{elements, by_latest, guided, guided_first, woken,    woken_first,
                          fixed,    cpus,      matrix, weights,      limits[0]};
    return new BeamSearch(section, settings[0]);
}

// Writes where each dispatch is placed; and by how much the cost, the sum of all waits and the
// number of long ones change, and what the guide costs. Returns whether a schedule was found.
std::int64_t best(const BeamSearch& search, std::span<Placement> placements,
                  std::span<std::int64_t> changes) {
    const std::optional<Found> found = search.best();
    if (!found) return 0;
    if (placements.size() != found->placements.size() || changes.size() != 4) return misfit;
    std::ranges::copy(found->placements, placements.begin());
    std::ranges::copy(std::array{found->cost, found->wait, found->long_waits, found->guide_cost},
                      changes.begin());
    return 1;
}

DFOPT_CREATOR(BeamSearch, BeamSearch, &beam_search)
DFOPT_FUNCTION(BeamSearch_place, &BeamSearch::place)
DFOPT_FUNCTION(BeamSearch_best, &best)

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
