#include "path.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace dfopt::cpu_path {

namespace {

// Stands for a dispatch or a fragment where there is none.
constexpr Index none = -1;

// How a CPU comes to hold a fragment: it enters it, runs a service, or enters it and runs one.
struct State {
    Index dispatch; // the service, or `none`
    Index before;   // the state before, or -1 - fragment for what is held first
    Time begin;     // when it enters, or -`later`
    Cost price;     // without U of the fragment
    Index held;
};

// A state of a fragment, by its number in the list or -1 - fragment, and its price.
struct Reached {
    Cost price;
    Index label;
};

// What is known of a fragment at the time that the search has come to.
struct Held {
    Cost seen, entering; // U and W
    Reached cheapest;
    Index after;   // the service that has just been run there, or `none`
    Reached other; // the cheapest state after another dispatch
};

class Search {
  public:
    explicit Search(const Stretch& stretch);

    Path run();

  private:
    Time next_time() const;
    bool end_services(Time time);
    bool take_steps(Time time);
    bool pass_blocks(Time time);
    void find_exits();
    void compare_exit(Index fragment);
    bool enter_before_rises(Time time);
    void begin_services(Time time, bool is_changed);
    void begin(Index service, Time time);
    Path traced() const;

    // The cheapest state of a fragment, and leaving it now.
    Cost exit_price(Index fragment) const {
        const Held& held = held_[fragment];
        return held.cheapest.price + stretch_.fragments[fragment].leaving - held.seen;
    }

    const Stretch stretch_;
    std::vector<Held> held_; // of each fragment
    std::vector<State> states_;
    std::vector<Index> cheaper_;        // the fragments that have become cheaper to leave
    Index best_ = none, second_ = none; // the cheapest fragment to leave, and the next cheapest one

    // The ends of services and the states that they lead to, the earliest one first.
    using End = std::pair<Time, Index>;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<Cost> begun_;    // of each service: the least price at which it has begun
    std::vector<Index> waiting_; // the services that may begin
    std::size_t service_ = 0, step_ = 0, rise_ = 0, block_ = 0; // what comes next
};

Search::Search(const Stretch& stretch) : stretch_(stretch), begun_(stretch.services.size(), later) {
    for (Index fragment = 0; fragment < std::ssize(stretch.fragments); ++fragment) {
        const Fragment& costs = stretch.fragments[fragment];
        held_.push_back({.seen = 0,
                         .entering = costs.entry,
                         .cheapest = {costs.first, -1 - fragment},
                         .after = none,
                         .other = {later, 0}});
        cheaper_.push_back(fragment);
    }
}

Path Search::run() {
    for (;;) {
        const Time time = next_time();
        if (time == later) return traced();
        bool is_changed = end_services(time);
        is_changed |= take_steps(time);
        is_changed |= pass_blocks(time);
        find_exits();
        is_changed |= enter_before_rises(time);
        begin_services(time, is_changed);
    }
}

Time Search::next_time() const {
    Time time = later;
    if (!ends_.empty()) time = ends_.top().first;
    if (step_ < stretch_.steps.size()) time = std::min(time, stretch_.steps[step_].time);
    if (rise_ < stretch_.steps.size()) time = std::min(time, stretch_.steps[rise_].time - 1);
    if (service_ < stretch_.services.size()) {
        time = std::min(time, stretch_.services[service_].earliest);
    }
    if (block_ < stretch_.blocks.size()) time = std::min(time, stretch_.blocks[block_].end);
    return time;
}

// Each of these returns whether services that wait should begin now: a state has become cheaper,
// or a CPU is free again.

bool Search::end_services(Time time) {
    bool is_changed = false;
    for (; !ends_.empty() && ends_.top().first == time; ends_.pop()) {
        const Index number = ends_.top().second;
        const State& state = states_[number];
        Held& held = held_[state.held];
        if (state.price < held.cheapest.price) {
            if (held.after != state.dispatch) held.other = held.cheapest;
            held.cheapest = {state.price, number};
            held.after = state.dispatch;
            cheaper_.push_back(state.held);
            is_changed = true;
        } else if (held.after != state.dispatch && state.price < held.other.price) {
            held.other = {state.price, number};
            is_changed = true;
        }
    }
    return is_changed;
}

bool Search::take_steps(Time time) {
    bool is_changed = false;
    for (; step_ < stretch_.steps.size() && stretch_.steps[step_].time == time; ++step_) {
        const Step& step = stretch_.steps[step_];
        held_[step.fragment].seen += step.seen;
        held_[step.fragment].entering += step.entry;
        if (step.seen > 0) cheaper_.push_back(step.fragment);
        is_changed |= step.seen > 0 || step.entry < 0;
    }
    return is_changed;
}

bool Search::pass_blocks(Time time) {
    const std::size_t before = block_;
    while (block_ < stretch_.blocks.size() && stretch_.blocks[block_].end <= time) ++block_;
    return block_ > before;
}

// Finds the cheapest fragment to leave, and the next cheapest one. Leaving never becomes dearer,
// since U only rises: so only what has become cheaper can take a place.
void Search::find_exits() {
    for (const Index fragment : cheaper_) compare_exit(fragment);
    cheaper_.clear();
}

void Search::compare_exit(Index fragment) {
    const auto comes_before = [&](Index other) {
        return other == none ||
               std::pair(exit_price(fragment), fragment) < std::pair(exit_price(other), other);
    };
    if (fragment == best_) return;
    if (comes_before(best_)) {
        second_ = best_;
        best_ = fragment;
    } else if (comes_before(second_)) {
        second_ = fragment;
    }
}

// Enters the fragments that it costs more to enter from the next time on.
bool Search::enter_before_rises(Time time) {
    bool is_changed = false;
    for (; rise_ < stretch_.steps.size() && stretch_.steps[rise_].time - 1 == time; ++rise_) {
        const Step& step = stretch_.steps[rise_];
        if (step.entry <= 0 || step.fragment == best_) continue;
        Held& held = held_[step.fragment];
        const Cost price = exit_price(best_) + held.entering;
        if (price >= held.cheapest.price) continue;
        if (held.after != none) held.other = held.cheapest;
        states_.push_back({none, held_[best_].cheapest.label, time, price, step.fragment});
        held.cheapest = {price, std::ssize(states_) - 1};
        held.after = none;
        cheaper_.push_back(step.fragment);
        is_changed = true;
    }
    return is_changed;
}

// Begins the services that may begin now: if nothing has changed, only those that were not there
// before.
void Search::begin_services(Time time, bool is_changed) {
    const std::size_t before = waiting_.size();
    for (; service_ < stretch_.services.size() && stretch_.services[service_].earliest == time;
         ++service_) {
        waiting_.push_back(static_cast<Index>(service_));
    }
    if (!is_changed && waiting_.size() == before) return;
    const Time free_until = block_ < stretch_.blocks.size() ? stretch_.blocks[block_].begin : later;
    std::size_t kept = 0;
    for (std::size_t position = 0; position < waiting_.size(); ++position) {
        const Index number = waiting_[position];
        const Service& service = stretch_.services[number];
        if (service.latest < time) continue;
        waiting_[kept++] = number;
        if (time + service.length <= free_until && (is_changed || position >= before)) {
            begin(number, time);
        }
    }
    waiting_.resize(kept);
}

// Begins a service, after the cheapest state that it may follow.
void Search::begin(Index number, Time time) {
    const Service& service = stretch_.services[number];
    const Held& held = held_[service.fragment];
    Reached from = held.after == number ? held.other : held.cheapest;
    Time entered = -later;
    const Index source = best_ == service.fragment ? second_ : best_;
    if (source != none) {
        const Cost change = exit_price(source) + held.entering;
        if (change < from.price) {
            from = {change, held_[source].cheapest.label};
            entered = time;
        }
    }
    if (from.price >= begun_[number]) return;
    begun_[number] = from.price;
    ends_.emplace(time + service.length, std::ssize(states_));
    states_.push_back({number, from.label, entered, from.price - service.reward, service.fragment});
}

// Returns the cheapest path to the end of the stretch.
Path Search::traced() const {
    const Rows<Condition> conditions = stretch_.conditions;
    Path path{later, std::vector<std::int64_t>(conditions.size() + stretch_.services.size())};
    Index label = 0;
    for (Index fragment = 0; fragment < std::ssize(held_); ++fragment) {
        const Held& held = held_[fragment];
        const Cost price = held.cheapest.price + stretch_.fragments[fragment].last - held.seen;
        if (fragment == 0 || price < path.price) {
            path.price = price;
            label = held.cheapest.label;
        }
    }
    std::vector<std::vector<std::size_t>> of_fragment(held_.size());
    for (std::size_t number = 0; number < conditions.size(); ++number) {
        of_fragment[conditions[number].fragment].push_back(number);
    }
    // From the last visit to the first one: each ends when the one before it here begins.
    Time end = later;
    const auto visit = [&](Index fragment, Time begin) {
        for (const std::size_t number : of_fragment[fragment]) {
            const Condition& condition = conditions[number];
            path.met[number] += condition.end >= begin && condition.begin < end;
        }
        end = begin;
    };
    while (label >= 0) {
        const State& state = states_[label];
        if (state.dispatch != none) ++path.met[conditions.size() + state.dispatch];
        if (state.begin != -later) visit(state.held, state.begin);
        label = state.before;
    }
    visit(-1 - label, -later);
    return path;
}

} // namespace

CheapestPath::CheapestPath(Rows<Service> services, Rows<Step> steps, Rows<Fragment> fragments,
                           Rows<Block> blocks, Rows<Condition> conditions)
    : path_(Search({services, steps, fragments, blocks, conditions}).run()) {}

DFOPT_OBJECT(CheapestPath, CheapestPath)
DFOPT_FUNCTION(CheapestPath_price, &CheapestPath::price)
DFOPT_FUNCTION(CheapestPath_met, &CheapestPath::met)

} // namespace dfopt::cpu_path
