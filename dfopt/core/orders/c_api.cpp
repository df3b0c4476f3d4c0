// Orders under a matrix, as Python calls them.

#include "least_cuts.hpp"
#include "segment_exchange.hpp"
#include "tour_annealing.hpp"

#include <algorithm>

namespace dfopt::orders {

// Arguments as for SegmentExchange; Python keeps `between` as long as that. Python destroys what it
// gets; it gets nothing if the arrays do not fit.
DFOPT_EXPORT SegmentExchange*
dfopt_segment_exchange_create(Array<const Cost> between, Array<const std::int64_t> sizes,
                              std::int64_t cpus, std::int64_t room, std::int64_t capacity,
                              std::int64_t by_worst, Cost known, std::uint64_t seed) {
    const std::int64_t numbers = sizes.rows + 1 + cpus;
    if (!between.fits() || !sizes.fits() || between.rows != numbers * (sizes.rows + 1)) {
        return nullptr;
    }
    return new SegmentExchange(between.span(), sizes.span(), cpus, room, capacity, by_worst != 0,
                               known, seed);
}

DFOPT_EXPORT void dfopt_segment_exchange_destroy(SegmentExchange* exchange) { delete exchange; }

DFOPT_EXPORT std::int64_t dfopt_segment_exchange_fill(SegmentExchange* exchange, std::int64_t cpu,
                                                      Array<const std::int64_t> types) {
    if (!types.fits()) return bad_arrays;
    exchange->fill(static_cast<Index>(cpu), types.span());
    return 0;
}

// Returns what the best schedule so far costs.
DFOPT_EXPORT Cost dfopt_segment_exchange_walk(SegmentExchange* exchange, std::int64_t moves,
                                              double temperature) {
    exchange->walk(moves, temperature);
    return exchange->best();
}

// Writes the types that each CPU runs in the best schedule, one CPU after the other, and how many
// these are. `types` has room for all tasks.
DFOPT_EXPORT std::int64_t dfopt_segment_exchange_best(const SegmentExchange* exchange,
                                                      Array<std::int64_t> types,
                                                      Array<std::int64_t> lengths) {
    const auto orders = exchange->best_orders();
    if (!types.fits() || !lengths.fits() || lengths.rows != std::ssize(orders)) return bad_arrays;
    auto next = types.span().begin();
    for (std::size_t cpu = 0; cpu < orders.size(); ++cpu) {
        lengths.data[cpu] = std::ssize(orders[cpu]) - 2;
        if (types.span().end() - next < lengths.data[cpu]) return bad_arrays;
        next = std::copy(orders[cpu].begin() + 1, orders[cpu].end() - 1, next);
    }
    return 0;
}

DFOPT_EXPORT std::int64_t dfopt_segment_exchange_is_sound(const SegmentExchange* exchange) {
    return exchange->is_sound();
}

// Arguments as for TourAnnealing; Python keeps all arrays but the tour as long as that.
DFOPT_EXPORT TourAnnealing* dfopt_tour_create(Array<const std::int64_t> visits,
                                              Array<const std::int64_t> near,
                                              Array<const Cost> costs, Array<const bool> precedes,
                                              Array<const std::int64_t> tour, std::uint64_t seed) {
    const std::int64_t nodes = visits.rows;
    if (!visits.fits() || !near.fits() || !costs.fits() || !precedes.fits() || !tour.fits() ||
        nodes == 0 || near.rows % nodes != 0 || costs.rows != nodes * nodes ||
        precedes.rows != costs.rows) {
        return nullptr;
    }
    return new TourAnnealing({visits.span(), near.span(), costs.span(), precedes.span()},
                             tour.span(), seed);
}

DFOPT_EXPORT void dfopt_tour_destroy(TourAnnealing* tour) { delete tour; }

// Returns what the best tour so far costs.
DFOPT_EXPORT Cost dfopt_tour_restart(TourAnnealing* tour) {
    tour->restart();
    return tour->best();
}

DFOPT_EXPORT void dfopt_tour_walk(TourAnnealing* tour, std::int64_t moves, double temperature) {
    tour->walk(moves, temperature);
}

DFOPT_EXPORT std::int64_t dfopt_tour_best(const TourAnnealing* tour, Array<std::int64_t> nodes) {
    if (!nodes.fits() || nodes.rows != tour->size()) return bad_arrays;
    tour->write_best(nodes.span());
    return 0;
}

// Writes for each pair of nodes the maximum flow between them, and a side of the least cut, see
// Network. `removed` and `sides` have a row of all nodes for each pair.
DFOPT_EXPORT std::int64_t dfopt_cuts_find(Array<const double> capacities,
                                          Array<const std::int64_t> sources,
                                          Array<const std::int64_t> sinks,
                                          Array<const bool> removed, double enough,
                                          Array<double> values, Array<bool> sides) {
    const std::int64_t pairs = sources.rows;
    if (!capacities.fits() || !sources.fits() || !sinks.fits() || !removed.fits() ||
        !values.fits() || !sides.fits() || sinks.rows != pairs || values.rows != pairs ||
        removed.rows != sides.rows || (pairs > 0 && sides.rows % pairs != 0)) {
        return bad_arrays;
    }
    if (pairs == 0) return 0;
    const auto nodes = static_cast<std::size_t>(sides.rows / pairs);
    if (capacities.span().size() != nodes * nodes) return bad_arrays;
    Network network(capacities.span(), nodes);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
        const std::size_t row = pair * nodes;
        values.data[pair] = network.flow(
            static_cast<Index>(sources.data[pair]), static_cast<Index>(sinks.data[pair]),
            removed.span().subspan(row, nodes), enough, sides.span().subspan(row, nodes));
    }
    return 0;
}

} // namespace dfopt::orders
