// Tasks that wait, as Python calls it.

#include "layers.hpp"
#include "list_annealing.hpp"

#include <algorithm>

namespace dfopt::waiting {

// Arguments as in Tables, whose arrays Python keeps as long as the instance. Python destroys what
// it gets; it gets nothing if the arrays do not fit.
DFOPT_EXPORT Instance* dfopt_waiting_create(Array<const Task> tasks, Array<const State> states,
                                            Array<const Cost> switches, Array<const bool> replaces,
                                            Array<const std::int64_t> starts,
                                            Array<const bool> before, Array<const bool> earlier,
                                            std::int64_t room) {
    if (!tasks.fits() || !states.fits() || !switches.fits() || !replaces.fits() || !starts.fits() ||
        !before.fits() || !earlier.fits() || switches.rows != states.rows * tasks.rows ||
        replaces.rows != states.rows * states.rows || before.rows != tasks.rows * tasks.rows ||
        earlier.rows != before.rows) {
        return nullptr;
    }
    return new Instance({tasks.span(), states.span(), switches.span(), replaces.span(),
                         starts.span(), before.span(), earlier.span(), room});
}

DFOPT_EXPORT void dfopt_waiting_destroy(Instance* instance) { delete instance; }

// The instance must live as long as the walk, and so with layers.
DFOPT_EXPORT ListAnnealing* dfopt_waiting_annealing_create(const Instance* instance,
                                                           Array<const std::int64_t> order,
                                                           Array<const std::int64_t> cpus,
                                                           std::uint64_t seed) {
    if (!order.fits() || !cpus.fits() || order.rows != instance->tasks() ||
        cpus.rows != instance->tasks()) {
        return nullptr;
    }
    return new ListAnnealing(*instance, order.span(), cpus.span(), seed);
}

DFOPT_EXPORT void dfopt_waiting_annealing_destroy(ListAnnealing* annealing) { delete annealing; }

// Returns when the best list so far ends.
DFOPT_EXPORT Cost dfopt_waiting_annealing_walk(ListAnnealing* annealing, std::int64_t moves,
                                               double temperature) {
    annealing->walk(moves, temperature);
    return annealing->best_end();
}

// Writes the best list.
DFOPT_EXPORT std::int64_t dfopt_waiting_annealing_best(const ListAnnealing* annealing,
                                                       Array<std::int64_t> order,
                                                       Array<std::int64_t> cpus) {
    const auto tasks = std::ssize(annealing->best_order());
    if (!order.fits() || !cpus.fits() || order.rows != tasks || cpus.rows != tasks) {
        return bad_arrays;
    }
    std::ranges::copy(annealing->best_order(), order.data);
    std::ranges::copy(annealing->best_cpus(), cpus.data);
    return 0;
}

DFOPT_EXPORT Layers* dfopt_waiting_layers_create(const Instance* instance, std::int64_t width) {
    return new Layers(*instance, width);
}

DFOPT_EXPORT void dfopt_waiting_layers_destroy(Layers* layers) { delete layers; }

// Returns whether some pairs of a row and a task are left.
DFOPT_EXPORT std::int64_t dfopt_waiting_layers_extend(Layers* layers, std::int64_t pairs,
                                                      Cost below) {
    return layers->extend(pairs, below);
}

DFOPT_EXPORT std::int64_t dfopt_waiting_layers_has_dropped(const Layers* layers) {
    return layers->has_dropped();
}

// Returns the number of rows of the next layer.
DFOPT_EXPORT std::int64_t dfopt_waiting_layers_advance(Layers* layers) { return layers->advance(); }

DFOPT_EXPORT Cost dfopt_waiting_layers_find_end(Layers* layers) { return layers->find_end(); }

// `steps` has a row for each layer but the first one.
DFOPT_EXPORT std::int64_t dfopt_waiting_layers_dispatches(const Layers* layers, Array<Step> steps) {
    if (!steps.fits() || steps.rows != layers->depth()) return bad_arrays;
    layers->write_dispatches(steps.span());
    return 0;
}

} // namespace dfopt::waiting
