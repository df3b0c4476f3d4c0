// Pricing, as Python calls it. Python destroys what it gets; it gets nothing if arrays do not fit.

#include "contents.hpp"

namespace dfopt::pricing {

// `unit`, `capacity` and `duties` as in Instance.
DFOPT_EXPORT Instance* dfopt_pricing_tables_create(Array<const Fragment> fragments,
                                                   Array<const TaskClass> classes,
                                                   Array<const Cost> entries,
                                                   Array<const Cost> rows, Array<const Cost> grid,
                                                   Cost unit, std::int64_t capacity,
                                                   std::int64_t duties) {
    if (!fragments.fits() || !classes.fits() || !entries.fits() || !rows.fits() || !grid.fits()) {
        return nullptr;
    }
    return new Instance{fragments.copied(), classes.copied(),
                        entries.copied(),   rows.copied(),
                        grid.copied(),      unit,
                        capacity,           duties};
}

DFOPT_EXPORT void dfopt_pricing_tables_destroy(Instance* instance) { delete instance; }

// `cost` as in PricedTasks; `known` may be null, and must be of the same instance and prices.
DFOPT_EXPORT PricedOptions*
dfopt_pricing_options_create(const Instance* instance, Value cost, Array<const ClassPrice> classes,
                             Array<const TokenPrice> tokens, Array<const FragmentPrice> fragments,
                             Array<const Bonus> bonuses, const PricedOptions* known) {
    if (!classes.fits() || !tokens.fits() || !fragments.fits() || !bonuses.fits() ||
        classes.rows != std::ssize(instance->classes) ||
        tokens.rows != std::ssize(instance->entries) ||
        fragments.rows != std::ssize(instance->fragments)) {
        return nullptr;
    }
    return new PricedOptions(PricedTasks(*instance, cost, classes.span(), tokens.span(),
                                         fragments.span(), bonuses.span()),
                             known);
}

DFOPT_EXPORT std::int64_t dfopt_pricing_options_find(PricedOptions* options) {
    return options->advance();
}

DFOPT_EXPORT void dfopt_pricing_options_destroy(PricedOptions* options) { delete options; }

DFOPT_EXPORT Contents* dfopt_pricing_contents_create(PricedOptions* options,
                                                     Array<const CpuFragment> fragments,
                                                     Cost arrival, Cost departure, Value worth) {
    if (!fragments.fits() || fragments.rows != std::ssize(options->options())) return nullptr;
    return new Contents(*options, fragments.span(), {arrival, departure}, worth);
}

DFOPT_EXPORT std::int64_t dfopt_pricing_contents_fill(Contents* contents) {
    return contents->fill();
}

DFOPT_EXPORT void dfopt_pricing_contents_release(Contents* contents) { contents->release(); }

DFOPT_EXPORT void dfopt_pricing_contents_destroy(Contents* contents) { delete contents; }

DFOPT_EXPORT Value dfopt_pricing_contents_largest(const Contents* contents, Cost limit) {
    return contents->largest(limit);
}

// Returns how many contents are chosen.
DFOPT_EXPORT std::int64_t dfopt_pricing_contents_choose(Contents* contents, Cost limit,
                                                        std::int64_t most) {
    contents->choose(limit, most);
    return std::ssize(contents->chosen());
}

DFOPT_EXPORT std::int64_t dfopt_pricing_contents_find_tasks(Contents* contents) {
    return contents->find_tasks();
}

// Writes the contents chosen; then, one content after the other, their fragments and their tasks.
DFOPT_EXPORT std::int64_t dfopt_pricing_contents_write(const Contents* contents,
                                                       Array<Content> chosen,
                                                       Array<PaidVisit> visits, Array<Held> tasks) {
    if (!chosen.fits() || !visits.fits() || !tasks.fits() ||
        chosen.rows != std::ssize(contents->chosen()) ||
        visits.rows < std::ssize(contents->visits())) {
        return bad_arrays;
    }
    PaidVisit* next_visit = visits.data;
    Held *next_task = tasks.data, *const behind = tasks.data + tasks.rows;
    auto visit = contents->visits().begin();
    for (Index place = 0; place < chosen.rows; ++place) {
        Content content = contents->chosen()[place];
        for (const auto end = visit + content.visits; visit != end; ++visit) {
            const Option& option = contents->option(*visit);
            if (behind - next_task < std::ssize(option.tasks)) return bad_arrays;
            *next_visit++ = {visit->fragment, option.token};
            next_task = std::ranges::copy(option.tasks, next_task).out;
            content.tasks += std::ssize(option.tasks);
        }
        chosen.data[place] = content;
    }
    return 0;
}

} // namespace dfopt::pricing
