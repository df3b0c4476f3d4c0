#include "tour_annealing.hpp"

#include <algorithm>

namespace dfopt::orders {

namespace {

// In half of the moves the new arc leads into the second segment, else out of the first.
constexpr double evenly = 0.5;

} // namespace

Cost TourAnnealing::restart() {
    tasks_ = best_tasks_;
    cost_ = best_cost_;
    tour_.clear();
    for (Index place = 0; place < size(); ++place) {
        places_[tasks_[place]] = place;
        tour_.push_back(node_[tasks_[place]]);
    }
    return best_cost_;
}

void TourAnnealing::walk(std::int64_t moves, double temperature) {
    for (; moves > 0; --moves) step(temperature);
}

// Makes up a random move, and tries it.
void TourAnnealing::step(double temperature) {
    // The new arc leads from what stands at `here` to what stands at `there`.
    const Index last = size() - 1;
    const Index here = random_.below(last);
    const std::int64_t head = near_[tour_[here] * near_each_ + random_.below(near_each_)];
    if (head < 0) return;
    const Index there = places_[first_[head] + random_.below(visits_[head])];
    // Segments are [first, middle) and [middle, after). Short ones are tried more often.
    double share = random_.uniform();
    share = share * share * share;
    Index first = 0, middle = 0, after = 0;
    if (there < here) {
        if (there == 0) return;
        first = there;
        after = here + 1;
        middle = first + 1 + random_.below(after - first - 1);
    } else if (there <= here + 1) {
        return;
    } else if (random_.uniform() < evenly) {
        first = here + 1;
        middle = there;
        after = middle + 1 + static_cast<Index>(share * (last - middle));
    } else {
        middle = here + 1;
        after = there;
        first = middle - 1 - static_cast<Index>(share * (middle - 1));
    }
    if (first < 1 || first >= middle || middle >= after || after > last) return;
    exchange(first, middle, after, temperature);
}

// Tries to let two segments change places.
void TourAnnealing::exchange(Index first, Index middle, Index after, double temperature) {
    const Index one = tour_[first - 1], two = tour_[first];
    const Index three = tour_[middle - 1], four = tour_[middle];
    const Index five = tour_[after - 1], six = tour_[after];
    const Cost change = cost(one, four) + cost(five, two) + cost(three, six) - cost(one, two) -
                        cost(three, four) - cost(five, six);
    if (!random_.accepts(static_cast<double>(change), temperature)) return;
    if (!may_change_places(first, middle, after)) return;
    for (std::vector<Index>* row : {&tasks_, &tour_}) {
        std::rotate(row->begin() + first, row->begin() + middle, row->begin() + after);
    }
    for (Index place = first; place < after; ++place) places_[tasks_[place]] = place;
    cost_ += change;
    if (cost_ < best_cost_) {
        best_cost_ = cost_;
        best_tasks_ = tasks_;
    }
}

// Returns whether no node of one segment has to come before one of the next segment.
bool TourAnnealing::may_change_places(Index first, Index middle, Index after) const {
    if (!has_order_) return true;
    for (Index early = first; early < middle; ++early) {
        const auto precedes = precedes_.subspan(tour_[early] * nodes_, nodes_);
        for (Index late = middle; late < after; ++late) {
            if (precedes[tour_[late]]) return false;
        }
    }
    return true;
}

Integers TourAnnealing::best() {
    listed_.clear();
    for (const Index task : best_tasks_) listed_.push_back(node_[task]);
    return listed_;
}

DFOPT_OBJECT(TourWalk, TourAnnealing)
DFOPT_FUNCTION(TourWalk_restart, &TourAnnealing::restart)
DFOPT_FUNCTION(TourWalk_walk, &TourAnnealing::walk)
DFOPT_FUNCTION(TourWalk_best, &TourAnnealing::best)

} // namespace dfopt::orders
