// Making a move: types, parts and lists of holders after tasks have come and gone.

#include "contents.hpp"

#include <algorithm>

namespace dfopt::contents {

Contents::Contents(const Instance& instance)
    : instance_(instance), cpus_(instance.starts.size()), holders_(instance.fragments) {}

void Contents::make(const Move& move, Index cpu, Side side, const After& after) {
    replace_parts(cpu, after.parts);
    replace_types(move, cpu, side);
    cpus_[cpu].cost = after.cost;
}

// Replaces the touched parts. The last one comes first, so that the places of the others stay
// what they were.
void Contents::replace_parts(Index cpu, std::span<const TouchedPart> touched) {
    auto& parts = cpus_[cpu].parts;
    for (auto one = touched.rbegin(); one != touched.rend(); ++one) {
        auto& holders = holders_[one->part.fragment];
        if (one->part.size == 0) {
            parts.erase(parts.begin() + one->place);
            *std::find(holders.begin(), holders.end(), cpu) = holders.back();
            holders.pop_back();
        } else if (one->place == nowhere) {
            const auto later =
                std::ranges::upper_bound(parts, one->part.fragment, std::less<>{}, &Part::fragment);
            parts.insert(later, one->part);
            holders.push_back(cpu);
        } else {
            parts[one->place] = one->part;
        }
    }
}

// Merges the move into the types, and finds where the parts begin.
void Contents::replace_types(const Move& move, Index cpu, Side side) {
    Cpu& held = cpus_[cpu];
    merged_.clear();
    visit_merged(held.types, move, side, [&](Index type, Index count, Index growth) {
        held.load += growth * instance_.types[type].size;
        if (count != 0) merged_.push_back({type, count});
    });
    held.types.assign(merged_.begin(), merged_.end());
    auto part = held.parts.begin();
    std::int64_t fragment = -1;
    for (std::size_t place = 0; place < held.types.size(); ++place) {
        const auto own = instance_.types[held.types[place].type].fragment;
        if (own != fragment) (part++)->begin = static_cast<Index>(place);
        fragment = own;
    }
}

bool Contents::is_sound() const {
    std::size_t parts = 0, listed = 0;
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        const Cpu& held = cpus_[cpu];
        std::int64_t load = 0;
        std::size_t types = 0;
        for (std::size_t place = 0; place < held.parts.size(); ++place) {
            const Part& part = held.parts[place];
            Index size = 0;
            for (const auto& [type, count] : held.types_of(place)) {
                if (count <= 0 || instance_.types[type].fragment != part.fragment) return false;
                size += count;
                load += count * instance_.types[type].size;
            }
            if (size != part.size || std::ranges::count(holders_[part.fragment], cpu) != 1) {
                return false;
            }
            if (place > 0 && held.parts[place - 1].fragment >= part.fragment) return false;
            types += held.types_of(place).size();
        }
        if (load != held.load || types != held.types.size()) return false;
        parts += held.parts.size();
    }
    for (const auto& holders : holders_) listed += holders.size();
    return listed == parts;
}

} // namespace dfopt::contents
