// The cheapest way of a CPU, as Python calls it.

#include "path.hpp"

#include <algorithm>

namespace dfopt::cpu_path {

// The arrays are those of Stretch, in this order. Python destroys what it gets; it gets nothing if
// they do not fit.
DFOPT_EXPORT Path* dfopt_path_create(Array<const Service> services, Array<const Step> steps,
                                     Array<const Fragment> fragments, Array<const Block> blocks) {
    if (!services.fits() || !steps.fits() || !fragments.fits() || !blocks.fits() ||
        fragments.rows == 0) {
        return nullptr;
    }
    return new Path(
        cheapest_path({services.span(), steps.span(), fragments.span(), blocks.span()}));
}

DFOPT_EXPORT void dfopt_path_destroy(Path* path) { delete path; }

DFOPT_EXPORT Cost dfopt_path_price(const Path* path) { return path->price; }

// These two return the numbers of services and of visits,
DFOPT_EXPORT std::int64_t dfopt_path_services(const Path* path) {
    return std::ssize(path->services);
}

DFOPT_EXPORT std::int64_t dfopt_path_visits(const Path* path) { return std::ssize(path->visits); }

// and this one writes them.
DFOPT_EXPORT std::int64_t dfopt_path_write(const Path* path, Array<Index> services,
                                           Array<Visit> visits) {
    if (!services.fits() || services.rows != std::ssize(path->services) || !visits.fits() ||
        visits.rows != std::ssize(path->visits)) {
        return bad_arrays;
    }
    std::ranges::copy(path->services, services.data);
    std::ranges::copy(path->visits, visits.data);
    return 0;
}

} // namespace dfopt::cpu_path
