// Caches of lines, as Python calls them.

#include "caches.hpp"

namespace dfopt::lines {

// Python keeps the arrays: of `lines` one more than of `owner` for each cache. It destroys what it
// gets; it gets nothing if the arrays do not fit.
DFOPT_EXPORT Caches* dfopt_caches_create(Array<Line> lines, Array<std::int32_t> owner,
                                         Array<Ledger> ledger, Array<const Times> times) {
    if (!lines.fits() || !owner.fits() || !ledger.fits() || !times.fits() || times.rows != 1 ||
        lines.rows != ledger.rows * (owner.rows + 1)) {
        return nullptr;
    }
    return new Caches(lines.span(), owner.span(), ledger.span(), *times.data);
}

DFOPT_EXPORT void dfopt_caches_destroy(Caches* caches) { delete caches; }

DFOPT_EXPORT Time dfopt_caches_touch(Caches* caches, std::int64_t cpu, std::int64_t first,
                                     std::int64_t number, std::int64_t leaves) {
    return caches->touch(static_cast<std::size_t>(cpu), static_cast<std::int32_t>(first),
                         static_cast<std::int32_t>(number), static_cast<Leaves>(leaves));
}

} // namespace dfopt::lines
