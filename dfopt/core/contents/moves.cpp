#include "moves.hpp"

#include <algorithm>

namespace dfopt::contents {

namespace {

// The probability that a move begins at a CPU above the target.
constexpr double from_above = 0.5;

// The probability that the other CPU is one that holds the fragment too.
constexpr double to_holder = 0.3;

// The probability that tasks move without any in exchange, where there is room.
constexpr double one_way = 0.3;

// A random number chooses the exchange. Below `single` one task goes each way. Below `equal` two
// parts exchange equal numbers of tasks. Below `unequal` two parts exchange as many tasks as there
// is room for. Above, a whole part moves, and other tasks come back if there is too little room.
constexpr double single = 0.4, equal = 0.6, unequal = 0.8;

// At most 6 single tasks of different sizes come back for those that move.
constexpr int most_tasks_back = 6;

} // namespace

Index Moves::first_cpu() {
    const Index cpu = random.below(contents_.cpus());
    if (above_.empty() || random.uniform() >= from_above) return cpu;
    return above_.cpus()[random.below(std::ssize(above_.cpus()))];
}

Pair Moves::propose() {
    move.clear();
    const Index cpu = first_cpu();
    Index other = random.below(contents_.cpus() - 1);
    if (other >= cpu) ++other;
    const auto& parts = contents_[cpu].parts;
    if (parts.empty()) return {cpu, other};
    const auto part = static_cast<Index>(random.below(std::ssize(parts)));
    const auto holders = contents_.holders(parts[part].fragment);
    if (holders.size() > 1 && random.uniform() < to_holder) {
        other = holders[random.below(std::ssize(holders))];
        if (other == cpu) return {cpu, other};
    }
    const double way = random.uniform();
    if (instance_.has_sizes) {
        exchange_sizes(cpu, part, other, way);
    } else {
        exchange(cpu, part, other, way);
    }
    return {cpu, other};
}

// Makes up a move of tasks whose sizes are equal.
void Moves::exchange(Index cpu, Index part, Index other, double way) {
    const auto& parts = contents_[cpu].parts;
    const auto& others = contents_[other].parts;
    const std::int64_t size = parts[part].size;
    if (others.empty() || (room(other) > 0 && random.uniform() < one_way)) {
        pick(cpu, part, way < single ? 1 : std::min(size, room(other)), Side::loses);
        return;
    }
    auto other_part = static_cast<Index>(random.below(std::ssize(others)));
    const std::int64_t other_size = others[other_part].size;
    if (way < unequal) {
        std::int64_t given = 1, taken = 1;
        if (way >= equal) {
            given = std::min(size, other_size + room(other));
            taken = std::min(other_size, size + room(cpu));
        } else if (way >= single) {
            given = taken = std::min(size, other_size);
        }
        pick(cpu, part, given, Side::loses);
        pick(other, other_part, taken, Side::gains);
    } else {
        pick(cpu, part, size, Side::loses);
        // Other tasks come back if there is too little room for the whole part.
        std::int64_t owed = size - room(other);
        for (std::size_t tried = 0; tried < others.size() && owed > 0; ++tried) {
            if (others[other_part].fragment != parts[part].fragment) {
                const std::int64_t taken = std::min<std::int64_t>(owed, others[other_part].size);
                pick(other, other_part, taken, Side::gains);
                owed -= taken;
            }
            if (++other_part == std::ssize(others)) other_part = 0;
        }
        if (owed > 0) move.clear();
    }
    net();
}

// Makes up a move of tasks of different sizes; nothing if there is no room for it.
//
// A single task of a part moves, or a random number of them, or all. Single tasks of random parts
// come back until there is room.
void Moves::exchange_sizes(Index cpu, Index part, Index other, double way) {
    std::int64_t given = contents_[cpu].parts[part].size;
    if (way < single) {
        given = 1;
    } else if (way < unequal) {
        given = 1 + random.below(given);
    }
    pick(cpu, part, given, Side::loses);
    const std::int64_t others = std::ssize(contents_[other].parts);
    for (int tries = 0; others > 0; ++tries) {
        net();
        bool wants_more = -size() > room(other);
        if (tries == 0 && !wants_more && size() + room(cpu) > 0) {
            // There is room already; sometimes a task comes back nevertheless.
            wants_more = random.uniform() >= one_way;
        }
        if (!wants_more || tries == most_tasks_back) break;
        pick(other, static_cast<Index>(random.below(others)), 1, Side::gains);
    }
    net();
    if (-size() > room(other) || size() > room(cpu) || !may_lose(other)) move.clear();
}

// Returns by how much size the first CPU of the current move grows.
std::int64_t Moves::size() const {
    std::int64_t growth = 0;
    for (const Held& change : move) growth += change.count * instance_.types[change.type].size;
    return growth;
}

// Returns whether a CPU holds all tasks that it shall lose.
bool Moves::may_lose(Index cpu) const {
    auto held = contents_[cpu].types.begin();
    const auto behind = contents_[cpu].types.end();
    for (const auto& [type, count] : move) {
        if (count <= 0) continue;
        while (held != behind && held->type < type) ++held;
        if (held == behind || held->type != type || held->count < count) return false;
    }
    return true;
}

// Adds random tasks of a part to the current move.
void Moves::pick(Index cpu, Index part, std::int64_t tasks, Side side) {
    const auto sign = static_cast<Index>(side);
    const Held* held = contents_[cpu].types_of(part).data();
    std::int64_t left = contents_[cpu].parts[part].size;
    if (tasks == 1) {
        std::int64_t skipped = random.below(left);
        for (; skipped >= held->count; ++held) skipped -= held->count;
        move.push_back({held->type, sign});
        return;
    }
    for (; tasks > 0; ++held) {
        const std::int64_t count = held->count;
        std::int64_t taken = count;
        if (tasks < left) {
            // Every task is as likely to be taken as the others.
            const double share = static_cast<double>(count * tasks) / static_cast<double>(left);
            taken = static_cast<std::int64_t>(share + 1 - random.uniform());
            taken = std::min({std::max(taken, tasks - left + count), count, tasks});
        }
        if (taken > 0) move.push_back({held->type, static_cast<Index>(sign * taken)});
        tasks -= taken;
        left -= count;
    }
}

// Sorts the types of the current move. Tasks that go both ways stay where they are.
void Moves::net() {
    // A move has few types, and mostly stands in order.
    for (std::size_t place = 1; place < move.size(); ++place) {
        const Held change = move[place];
        std::size_t hole = place;
        for (; hole > 0 && move[hole - 1].type > change.type; --hole) move[hole] = move[hole - 1];
        move[hole] = change;
    }
    std::size_t kept = 0;
    for (const Held change : move) {
        if (kept > 0 && move[kept - 1].type == change.type) {
            move[kept - 1].count += change.count;
            if (move[kept - 1].count == 0) --kept;
        } else {
            move[kept++] = change;
        }
    }
    move.resize(kept);
}

} // namespace dfopt::contents
