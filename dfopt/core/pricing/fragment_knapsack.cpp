#include "fragment_knapsack.hpp"

#include <bit>
#include <cstdlib>

namespace dfopt::pricing {

namespace {

// Tasks of one class that are added to those in a table, with the duties that they do.
struct Added {
    Duties duties;
    Index size;
    Priced priced;
};

// Raises `after` to what `before` gives with these tasks on top. `sizes` has for each row, by
// duties, how many sizes there are up to the largest that is possible.
DFOPT_FOR_NEWER_CPUS void raise(Table& before, Table& after, Integers rows,
                                const std::vector<Index>& sizes, Added added) {
    for (Duties done = 0; done < before.sets; ++done) {
        if (done & added.duties) continue;
        Index goal = 0;
        for (Index row = 0; row < before.height; ++row) {
            const Cost cost = rows[row] + added.priced.cost;
            if (cost > rows.back()) break;
            while (goal + 1 < before.height && rows[goal + 1] <= cost) ++goal;
            const Value* source = before.at(done, row);
            Value* better = after.at(done | added.duties, goal) + added.size;
            const Index number =
                std::min(sizes[done * before.height + row], before.width - added.size);
            for (Index size = 0; size < number; ++size) {
                better[size] = std::max(better[size], source[size] + added.priced.value);
            }
        }
    }
}

} // namespace

FragmentTasks::FragmentTasks(const PricedTasks& all, Index fragment)
    : all(all), own(all.instance.fragments[fragment]), price(all.fragments[fragment]),
      rows(std::span(all.instance.rows).subspan(own.first_row, own.last_row - own.first_row)) {}

Table FragmentTasks::table(Index width) const {
    const Index sets = all.instance.duties + 1, height = std::ssize(rows);
    Table table{sets, height, width, std::vector(sets * height * width, never)};
    table.values[0] = 0;
    return table;
}

// Returns how many tasks of a class can do these duties.
FragmentTasks::Numbers FragmentTasks::numbers(Index task_class, Index opener, Duties duties) const {
    const Index available = all.classes[task_class].number - (task_class == opener);
    const Index needed = std::popcount(static_cast<std::uint64_t>(duties));
    return {std::max(price.is_whole ? available : 0, needed), available};
}

// Returns what a number of tasks of a class that do these duties cost and are worth.
Priced FragmentTasks::priced(Index task_class, Index opener, Duties duties, Index number) const {
    const PricedClass& one = all.classes[task_class];
    const Value bonus = all.bonus(task_class, number + (task_class == opener));
    return number * one.each + one.duties[duties] + Priced{0, bonus};
}

Index FragmentTasks::add_class(Table& before, Table& after, Index task_class, Index opener) const {
    after = before;
    std::ranges::fill(after.values, never);
    std::vector<Index> sizes;
    for (const Value* row = before.at(0, 0); row < before.at(before.sets, 0); row += before.width) {
        sizes.push_back(before.width);
        while (sizes.back() > 0 && !is_possible(row[sizes.back() - 1])) --sizes.back();
    }
    Index steps = 0;
    for (Duties duties = 0; duties < before.sets; ++duties) {
        const auto [least, most] = numbers(task_class, opener, duties);
        for (Index number = least; number <= most; ++number) {
            const Index size = number * all.classes[task_class].size;
            const Priced tasks = priced(task_class, opener, duties, number);
            if (size >= before.width || tasks.cost > rows.back()) break;
            raise(before, after, rows, sizes, {duties, size, tasks});
            steps += std::ssize(sizes) * (before.width - size);
        }
    }
    return steps;
}

std::vector<Held> FragmentTasks::trace(Rows<Table> tables, Index opener, Place place) const {
    std::vector<Held> held;
    for (Index index = std::ssize(tables) - 2; index >= 0; --index) {
        const Index task_class = own.first_class + index;
        const Value value = tables[index + 1][place];
        const Index number =
            step_back(tables[index], value, task_class, opener, place) + (task_class == opener);
        if (number > 0) held.insert(held.begin(), {task_class, number});
    }
    return held;
}

// Returns how many tasks of a class were added for an entry of this value, and goes to the entry
// that they were added to.
Index FragmentTasks::step_back(const Table& before, Value value, Index task_class, Index opener,
                               Place& place) const {
    for (Duties added = 0; added <= place.done; ++added) {
        if (added & ~place.done) continue;
        const auto [least, most] = numbers(task_class, opener, added);
        for (Index number = least; number <= most; ++number) {
            const Index size = place.size - number * all.classes[task_class].size;
            if (size < 0) break;
            const Priced tasks = priced(task_class, opener, added, number);
            const Cost cost = rows[place.row] - tasks.cost;
            const Index row = row_at_most(rows, cost);
            if (row == none || rows[row] != cost) continue;
            const Place source{place.done & ~added, row, size};
            if (before[source] + tasks.value == value) {
                place = source;
                return number;
            }
        }
    }
    std::abort(); // the tables contradict each other
}

} // namespace dfopt::pricing
