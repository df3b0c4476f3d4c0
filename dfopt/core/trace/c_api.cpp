// Searches for schedules of traces and for bounds, and the patient rule, as Python calls them.

#include "beam_search.hpp"
#include "patient_rule.hpp"
#include "prices.hpp"

#include <algorithm>
#include <array>

namespace dfopt {

namespace {

// Returns whether there is a begin for each of a number of groups, and an end of the last one.
template <typename Member>
bool are_begins(Array<const std::int64_t> first, std::int64_t groups, Array<Member> members) {
    return first.fits() && first.rows == groups + 1 && first.data[groups] == members.rows;
}

} // namespace

namespace beam {

// The arrays are those of Section, in this order. They must live as long as the search, which
// Python destroys; it gets none if they do not fit.
DFOPT_EXPORT BeamSearch* dfopt_beam_create(
    Array<const Element> elements, Array<const Index> by_fragment,
    Array<const Index> fragment_first, Array<const Index> by_latest, Array<const Index> guided,
    Array<const Index> guided_first, Array<const Index> woken, Array<const Index> woken_first,
    Array<const Fixed> fixed, Array<const Cpu> cpus, Array<const Cost> matrix,
    Array<const double> weights, Array<const Limits> limits, Array<const Settings> settings) {
    const std::int64_t count = by_latest.rows, fragments = weights.rows;
    const bool fit = elements.fits() && by_fragment.fits() && by_latest.fits() && guided.fits() &&
                     woken.fits() && fixed.fits() && cpus.fits() && matrix.fits() &&
                     weights.fits() && limits.fits() && settings.fits();
    if (!fit || elements.rows < count || by_fragment.rows != count || guided.rows != count ||
        limits.rows != 1 || settings.rows != 1 ||
        (matrix.rows > 0 && matrix.rows != fragments * fragments) ||
        !are_begins(fragment_first, fragments, by_fragment) ||
        !are_begins(guided_first, cpus.rows, guided) || !are_begins(woken_first, count, woken)) {
        return nullptr;
    }
    const Section section{elements.span(),  by_fragment.span(), fragment_first.span(),
                          by_latest.span(), guided.span(),      guided_first.span(),
                          woken.span(),     woken_first.span(), fixed.span(),
                          cpus.span(),      matrix.span(),      weights.span(),
                          *limits.data};
    return new BeamSearch(section, *settings.data);
}

DFOPT_EXPORT void dfopt_beam_destroy(BeamSearch* search) { delete search; }

// Places this number of dispatches more. Returns the number of those that are left: 0 also if no
// schedule is within the limits.
DFOPT_EXPORT std::int64_t dfopt_beam_place(BeamSearch* search, std::int64_t dispatches) {
    return search->place(dispatches);
}

// Writes where each dispatch is placed; and by how much the cost, the sum of all waits and the
// number of long ones change, and what the guide costs. Returns whether a schedule was found.
DFOPT_EXPORT std::int64_t dfopt_beam_best(const BeamSearch* search, Array<Placement> placements,
                                          Array<std::int64_t> changes) {
    const std::optional<Found> found = search->best();
    if (!found) return 0;
    if (!placements.fits() || placements.rows != std::ssize(found->placements) || !changes.fits() ||
        changes.rows != 4) {
        return bad_arrays;
    }
    std::ranges::copy(found->placements, placements.data);
    std::ranges::copy(std::array{found->cost, found->wait, found->long_waits, found->guide_cost},
                      changes.data);
    return 1;
}

} // namespace beam

namespace patience {

// The arrays are those of Recording, in this order. They must live as long as the rule, which
// Python destroys; it gets none if they do not fit.
DFOPT_EXPORT PatientRule* dfopt_patience_create(Array<const Dispatch> dispatches,
                                                Array<const Index> taken, Array<const Cut> cuts,
                                                Array<const Time> hurry_from, std::int64_t cpus,
                                                Time patience) {
    if (!dispatches.fits() || !taken.fits() || !cuts.fits() || !hurry_from.fits() ||
        hurry_from.rows > dispatches.rows) {
        return nullptr;
    }
    return new PatientRule({dispatches.span(), taken.span(), cuts.span(), hurry_from.span()}, cpus,
                           patience);
}

DFOPT_EXPORT void dfopt_patience_destroy(PatientRule* rule) { delete rule; }

// Goes on by this number of events. Returns the number of dispatches that have not started.
DFOPT_EXPORT std::int64_t dfopt_patience_run(PatientRule* rule, std::int64_t events) {
    return rule->run(events);
}

// Writes where each dispatch has started.
DFOPT_EXPORT std::int64_t dfopt_patience_placements(const PatientRule* rule,
                                                    Array<Placement> placements) {
    if (!placements.fits() || placements.rows != std::ssize(rule->placements())) return bad_arrays;
    std::ranges::copy(rule->placements(), placements.data);
    return 0;
}

} // namespace patience

namespace prices {

// Lowers prices; see `fit`.
DFOPT_EXPORT std::int64_t dfopt_prices_fit(Array<const Slots> conditions, Array<Cost> room,
                                           Array<Cost> prices) {
    if (!conditions.fits() || !room.fits() || !prices.fits() || prices.rows != conditions.rows) {
        return bad_arrays;
    }
    fit(conditions.span(), room.span(), prices.span());
    return 0;
}

} // namespace prices

} // namespace dfopt
