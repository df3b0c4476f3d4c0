// Annealing of contents, as Python calls it.

#include "annealing.hpp"

#include <algorithm>
#include <memory>

namespace dfopt::contents {

// `room`, `has_sizes` and `adds_up` as in Instance. Python destroys what it gets; it gets nothing
// if the arrays do not fit.
DFOPT_EXPORT Annealing* dfopt_annealing_create(Array<const TaskType> types,
                                               Array<const CpuStart> starts, std::int64_t fragments,
                                               std::int64_t room, std::int64_t has_sizes,
                                               std::int64_t adds_up, std::uint64_t seed) {
    if (!types.fits() || !starts.fits()) return nullptr;
    return new Annealing(
        {types.copied(), starts.copied(), fragments, room, has_sizes != 0, adds_up != 0}, seed);
}

DFOPT_EXPORT void dfopt_annealing_destroy(Annealing* annealing) { delete annealing; }

DFOPT_EXPORT std::int64_t dfopt_annealing_fill(Annealing* annealing, std::int64_t cpu,
                                               Array<const Held> tasks) {
    if (!tasks.fits()) return bad_arrays;
    annealing->fill(static_cast<Index>(cpu), tasks.span());
    return 0;
}

DFOPT_EXPORT void dfopt_annealing_aim(Annealing* annealing, Cost goal, Cost known) {
    annealing->compare_with(known);
    annealing->aim(goal);
}

DFOPT_EXPORT void dfopt_annealing_even_out(Annealing* annealing, Cost target, Cost total,
                                           Cost known) {
    annealing->compare_with(known);
    annealing->set_target(target);
    annealing->allow(total);
}

// Returns whether the best schedule is within the goal.
DFOPT_EXPORT std::int64_t dfopt_annealing_walk(Annealing* annealing, std::int64_t moves,
                                               double temperature, double cooling, Cost goal) {
    return annealing->walk(moves, temperature, cooling, goal);
}

DFOPT_EXPORT Cost dfopt_annealing_best(const Annealing* annealing) { return annealing->best(); }

DFOPT_EXPORT std::int64_t dfopt_annealing_is_sound(const Annealing* annealing) {
    return annealing->is_sound();
}

// Writes what each CPU costs now.
DFOPT_EXPORT std::int64_t dfopt_annealing_costs(const Annealing* annealing, Array<Cost> costs) {
    const Contents& contents = annealing->contents();
    if (!costs.fits() || costs.rows != contents.cpus()) return bad_arrays;
    for (Index cpu = 0; cpu < contents.cpus(); ++cpu) costs.data[cpu] = contents[cpu].cost;
    return 0;
}

// Writes the types that each CPU holds, one CPU after the other, and how many these are; as they
// are now, or in the best schedule so far. `held` has a row for each task.
DFOPT_EXPORT std::int64_t dfopt_annealing_contents(const Annealing* annealing, std::int64_t best,
                                                   Array<Held> held, Array<std::int64_t> lengths) {
    const Contents& contents = annealing->contents();
    if (!held.fits() || !lengths.fits() || lengths.rows != contents.cpus()) return bad_arrays;
    auto next = held.span().begin();
    for (Index cpu = 0; cpu < contents.cpus(); ++cpu) {
        const auto& types = best ? annealing->best_types()[cpu] : contents[cpu].types;
        if (held.span().end() - next < std::ssize(types)) return bad_arrays;
        next = std::copy(types.begin(), types.end(), next);
        lengths.data[cpu] = std::ssize(types);
    }
    return 0;
}

} // namespace dfopt::contents
