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
void Contents::replace_parts(Index cpu, Rows<TouchedPart> touched) {
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

} // namespace dfopt::contents
