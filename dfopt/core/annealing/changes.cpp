#include "changes.hpp"

namespace dfopt::annealing {

namespace {

// At most 128 dispatches are in a segment.
constexpr std::int64_t longest_segment = 128;

// A change begins with a probability of 80 % at the first dispatch of a visit.
constexpr std::int64_t from_opener = 80;

// A random number below 100 chooses the change, see Changes::propose.
constexpr std::int64_t to_fragment = 60, to_fixed = 63, to_other = 70, visits = 90, neighbours = 95;

} // namespace

Change Changes::propose() {
    const Index begin = first();
    const std::int64_t choice = random.below(100);
    if (choice < to_fragment) {
        // A part of a visit goes next to a dispatch of its fragment.
        Index from = begin, end = begin;
        const std::int64_t shape = random.below(4);
        if (shape == 0) end = visit_end(begin, longest_segment);
        if (shape == 1) end = visit_end(begin, std::int64_t{1} << random.below(6));
        if (shape == 2) from = end = visit_end(begin, longest_segment);
        const Index target = near_in_fragment(from);
        if (target == none) return {};
        return move(from, end, random.below(2) ? orders_[target].before : target);
    }
    if (choice < to_fixed) {
        // A part of a visit goes behind something that keeps its time, perhaps on an idle CPU.
        const Index fixed = orders_.size() - orders_.dispatches();
        const Index behind = orders_.dispatches() + random.below(fixed);
        if (orders_[behind].after == none) return {};
        return move(begin, random.below(2) ? visit_end(begin, longest_segment) : begin, behind);
    }
    Index target = near(begin);
    if (target == none) return {};
    if (choice < to_other) {
        // A visit goes between two others.
        return move(begin, visit_end(begin, longest_segment), orders_[visit_begin(target)].before);
    }
    if (choice < visits) {
        // Some visits change places with some others.
        if (random.below(4)) target = visit_begin(target);
        const Index end = visits_end(begin, 1 + random.below(4));
        const Index other = visits_end(target, 1 + random.below(4));
        if (is_between(target, begin, end) || is_between(begin, target, other)) return {};
        return {begin, end, target, other};
    }
    // Two dispatches change places.
    const Index after = orders_[begin].after;
    if (choice < neighbours && orders_[after].role == Role::moves) target = after;
    return {begin, begin, target, target};
}

// Returns the dispatch at which a change begins.
Index Changes::first() {
    const Index openers = orders_.openers().size();
    if (openers > 0 && random.below(100) < from_opener) {
        return orders_.openers()[random.below(openers)];
    }
    return orders_.low() + random.below(orders_.high() - orders_.low());
}

// Returns 1 to 64 forwards or backwards; small distances are likelier.
std::int64_t Changes::random_distance() {
    const std::int64_t reach = std::int64_t{1} << random.below(7);
    const std::int64_t distance = 1 + random.below(reach);
    return random.below(2) ? -distance : distance;
}

// Returns a random dispatch of the same fragment that was recorded at about the same time.
Index Changes::near_in_fragment(Index element) {
    const Index rank = orders_[element].rank + random_distance();
    if (rank < 0 || rank >= orders_.dispatches()) return none;
    const Index near = orders_.by_rank(rank);
    return orders_[near].fragment == orders_[element].fragment ? near : none;
}

// Returns a random dispatch that was recorded at about the same time.
Index Changes::near(Index element) {
    const Index other = element + random_distance();
    return 0 <= other && other < orders_.dispatches() ? other : none;
}

// Returns the first dispatch of the visit of a dispatch, or one close before it.
Index Changes::visit_begin(Index element) const {
    for (std::int64_t places = longest_segment; places; --places) {
        const Element& before = orders_[orders_[element].before];
        if (before.role != Role::moves || before.fragment != orders_[element].fragment) break;
        element = orders_[element].before;
    }
    return element;
}

// Returns the last dispatch of the visit of a dispatch, or one at most `most` after it.
Index Changes::visit_end(Index element, std::int64_t most) const {
    for (; most; --most) {
        const Element& after = orders_[orders_[element].after];
        if (after.role != Role::moves || after.fragment != orders_[element].fragment) break;
        element = orders_[element].after;
    }
    return element;
}

// Returns the last dispatch of some visits in a row that begin with a dispatch.
Index Changes::visits_end(Index element, std::int64_t visits) const {
    for (std::int64_t places = longest_segment; places; --places) {
        const Element& after = orders_[orders_[element].after];
        if (after.role != Role::moves) break;
        if (after.fragment != orders_[element].fragment && --visits == 0) break;
        element = orders_[element].after;
    }
    return element;
}

// Returns whether an element belongs to a segment.
bool Changes::is_between(Index element, Index begin, Index end) const {
    for (std::int64_t places = longest_segment + 1; places; --places) {
        if (begin == element) return true;
        if (begin == end) return false;
        begin = orders_[begin].after;
    }
    return true;
}

// Returns the change that moves a segment behind an element, if that changes anything.
Change Changes::move(Index begin, Index end, Index behind) const {
    if (behind == orders_[begin].before || is_between(behind, begin, end)) return {};
    return {begin, end, none, none, behind};
}

} // namespace dfopt::annealing
