#include "children.hpp"

#include "timeline.hpp"

#include <algorithm>

namespace dfopt::beam {

namespace {

// Of each partial schedule, the CPUs that are free first may change to another fragment.
constexpr Index changing_cpus = 2;

std::uint64_t floor_mod(std::int64_t number, std::int64_t divisor) {
    const std::int64_t rest = number % divisor;
    return static_cast<std::uint64_t>(rest < 0 ? rest + divisor : rest);
}

} // namespace

Children::Children(const Section& section, const Settings& settings)
    : section_(section), settings_(settings), best_(settings.width), safest_(settings.safe),
      stock_(section), candidates_(section_, settings.ahead, settings.urgent),
      guide_(section.cpus.size()), on_(section.cpus.size()), holders_(section.fragments()),
      waiting_(section.fragments()), beside_(section.cpus.size()), free_(section.cpus.size()),
      passed_(section.cpus.size()) {}

void Children::clear() {
    best_.clear();
    safest_.clear();
}

void Children::add(Index parent, PartialSchedule& partial) {
    candidates_.survey(partial);
    note_held(partial);
    note_waiting(partial.now);
    follow_guide(partial);
    const double paid = least_paid(partial);
    const Time soon = soon_free(partial);
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        const bool may_change = std::max(partial.cpus[cpu].free, partial.now) <= soon;
        may_be_safe_ = partial.unlike <= 1 && is_ahead_beside(partial, cpu);
        for (const Index fragment : candidates_.fragments()) {
            if (!may_change && on_[cpu] != fragment) continue;
            not_held_ = all_waiting_ - held_price(fragment, cpu);
            if (!has_room(paid + settings_.waiting * not_held_)) continue;
            for (const Index row : candidates_.choices(cpu, fragment)) {
                if (row != none) consider(parent, partial, row, cpu);
            }
        }
        // What comes next in the guide keeps a safe schedule safe.
        if (partial.safe && guide_[cpu].row != none) {
            const Index row = guide_[cpu].row;
            not_held_ = all_waiting_ - held_price(section_.elements[row].fragment, cpu);
            consider(parent, partial, row, cpu);
        }
    }
}

// Returns whether a child with a key may get into one of the lists.
bool Children::has_room(double key) const {
    return best_.has_room(key) || (may_be_safe_ && safest_.has_room(key));
}

// Returns when the CPUs are free that may change to another fragment now. If others did, it would
// mostly lead to the same schedules, in another order of their dispatches.
Time Children::soon_free(const PartialSchedule& partial) {
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        free_[cpu] = std::max(partial.cpus[cpu].free, partial.now);
    }
    const auto last = free_.begin() + std::min(changing_cpus, cpus()) - 1;
    std::ranges::nth_element(free_, last);
    return *last;
}

// Returns the least that any child pays for switches, idle time and waiting.
double Children::least_paid(const PartialSchedule& partial) const {
    Time idle = -partial.busy;
    for (const CpuState& on : partial.cpus) idle += std::max(on.free, partial.now);
    return static_cast<double>(partial.cost) + settings_.idle * static_cast<double>(idle) +
           price_of(partial.waits, waited(partial.now));
}

// Returns for how long those have waited by a time that wait now.
Time Children::waited(Time time) const {
    return candidates_.waiting() * time - candidates_.since();
}

// Returns what waits cost, together with `more` time of waiting.
double Children::price_of(const Waits& waits, Time more) const {
    return settings_.wait_price * static_cast<double>(waits.total + more) +
           settings_.long_price * static_cast<double>(waits.long_waits);
}

// Returns whether all CPUs but one are free when the guide needs them, whatever comes next.
bool Children::is_ahead_beside(const PartialSchedule& partial, Index cpu) const {
    for (Index i = 0; i < cpus(); ++i) {
        if (i != cpu && partial.cpus[i].free > guide_[i].second) return false;
    }
    return true;
}

// Notes which fragments the CPUs hold.
void Children::note_held(const PartialSchedule& partial) {
    for (const Index fragment : held_) holders_[fragment] = 0;
    held_.clear();
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        const Index last = partial.cpus[cpu].before;
        on_[cpu] = last >= 0 ? section_.elements[last].fragment : none;
        if (on_[cpu] >= 0 && holders_[on_[cpu]]++ == 0) held_.push_back(on_[cpu]);
    }
}

// Notes what each fragment counts that waits at the latest start so far, and the sums.
void Children::note_waiting(Time now) {
    all_waiting_ = 0;
    std::ranges::fill(waiting_, 0);
    for (const Index fragment : candidates_.fragments()) {
        if (candidates_.of(fragment).soonest_ready <= now)
            waiting_[fragment] = price(fragment, now);
        all_waiting_ += waiting_[fragment];
    }
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        beside_[cpu] = 0;
        for (const Index fragment : held_) {
            if (is_held_beside(fragment, cpu)) beside_[cpu] += waiting_[fragment];
        }
    }
}

// Notes what comes next in the guide on each CPU.
void Children::follow_guide(PartialSchedule& partial) {
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        Guide& guide = guide_[cpu] = {};
        const Index end = section_.cpus[cpu].guided_end;
        const auto left_from = [&](Index at) {
            while (at < end && partial.has(section_.guided[at])) ++at;
            return at;
        };
        const auto start_of = [&](Index at) {
            return section_.elements[section_.guided[at]].start;
        };
        const Index first = partial.cpus[cpu].guided = left_from(partial.cpus[cpu].guided);
        if (first == end) continue;
        guide.row = section_.guided[first];
        guide.first = start_of(first);
        const Index second = left_from(first + 1);
        if (second < end) guide.second = start_of(second);
    }
}

// Lets a dispatch come next on a CPU, and puts what that gives into the lists.
void Children::consider(Index parent, const PartialSchedule& partial, Index row, Index cpu) {
    const Element& dispatch = section_.elements[row];
    const CpuState& on = partial.cpus[cpu];
    const Time ready = partial.ready_time(section_, row);
    if (ready == far) return;
    const Fit fit = fitting(section_, cpu, on.passed, std::max(ready, on.free), dispatch.length);
    const Time start = fit.start, end = start + dispatch.length;
    if (start > dispatch.latest) return;
    const Cost cost = partial.cost + following(section_, on.before, on.passed, fit.passed, row);
    const Time then = std::max(partial.now, start);
    Time busy = partial.busy + dispatch.length;
    for (const Fixed& fixed : section_.fixed_from(on.passed, fit.passed)) {
        busy += fixed.end - fixed.start;
    }
    Time idle = -busy;
    for (Index i = 0; i < cpus(); ++i) {
        free_[i] = i == cpu ? end : partial.cpus[i].free;
        idle += std::max(free_[i], then);
    }
    Waits waits = partial.waits;
    const Index previous = dispatch.previous;
    waits.add(section_, dispatch, start,
              previous == none ? -far : partial.end_of(section_, previous));
    double paid = static_cast<double>(cost) + settings_.idle * static_cast<double>(idle);
    const Time since = partial.since(section_, row);
    paid += price_of(waits, waited(then) - (since <= partial.now ? then - since : 0));
    // What waits now and is not held costs no less later.
    double key = paid + settings_.waiting * not_held_;
    if (!has_room(key)) return;
    if (then > partial.now) {
        key = paid + settings_.waiting * waiting_price(dispatch.fragment, cpu, then);
    }
    if (!has_room(key)) return;
    const std::int64_t unlike = partial.unlike + changed_unlike(partial, row, start, ready);
    const bool safe = unlike == 0 && is_ahead_of_guide(row);
    if (!best_.has_room(key) && !(safe && safest_.has_room(key))) return;
    const Child child{.parent = parent,
                      .row = row,
                      .cpu = cpu,
                      .start = start,
                      .passed = fit.passed,
                      .cost = cost,
                      .hash = hash_of(partial, row, cpu),
                      .unlike = unlike,
                      .safe = safe,
                      .busy = busy,
                      .waits = waits};
    if (!safe && !stock_.suffices(partial.sooner, dispatch, free_, busy)) return;
    const std::optional<int> late = number_late(partial, child);
    if (late) best_.offer(key + settings_.late * *late, child);
    if (safe) safest_.offer(key + settings_.late * late.value_or(0), child);
}

// Returns what it counts that a fragment waits at a time.
double Children::price(Index fragment, Time time) const {
    const Time slack = std::max<Time>(candidates_.of(fragment).urgent_latest - time, 0);
    return section_.weights[fragment] * settings_.patience /
           (settings_.patience + static_cast<double>(slack));
}

// Returns whether another CPU holds a fragment.
bool Children::is_held_beside(Index fragment, Index cpu) const {
    return holders_[fragment] > (on_[cpu] == fragment);
}

// Returns what those fragments count together that wait now and that CPUs hold once one of them
// holds `fragment`.
double Children::held_price(Index fragment, Index cpu) const {
    return beside_[cpu] + (is_held_beside(fragment, cpu) ? 0 : waiting_[fragment]);
}

// Returns what fragments count that wait at a later time and that no CPU holds once one of them
// holds `placed`.
double Children::waiting_price(Index placed, Index cpu, Time then) const {
    double total = 0;
    for (const Index fragment : candidates_.fragments()) {
        if (fragment != placed && !is_held_beside(fragment, cpu) &&
            candidates_.of(fragment).soonest_ready <= then) {
            total += price(fragment, then);
        }
    }
    return total;
}

// Returns whether every CPU is free when the guide needs it next, after `row` was placed.
bool Children::is_ahead_of_guide(Index row) const {
    for (Index cpu = 0; cpu < cpus(); ++cpu) {
        const Guide& guide = guide_[cpu];
        if (free_[cpu] > (guide.row == row ? guide.second : guide.first)) return false;
    }
    return true;
}

// Returns a hash of the number of dispatches that have been placed of each fragment, and of what
// the CPUs hold. Whoever shares it differs little, and would leave no room to what differs more.
std::uint64_t Children::hash_of(const PartialSchedule& partial, Index row, Index cpu) const {
    std::uint64_t hash = partial.hash + code(section_.elements[row].fragment);
    for (Index i = 0; i < cpus(); ++i) {
        const Index last = i == cpu ? row : partial.cpus[i].before;
        if (last < 0) continue;
        const Element& element = section_.elements[last];
        const std::uint64_t of_last = 31 * static_cast<std::uint64_t>(element.fragment) +
                                      floor_mod(element.exit, 1009) +
                                      floor_mod(element.always, 1013);
        hash += static_cast<std::uint64_t>(i + 1) * 999983u * (of_last + 17);
    }
    return hash;
}

// Returns by how much the number of dispatches changes that are ready too late for the guide.
std::int64_t Children::changed_unlike(const PartialSchedule& partial, Index row, Time start,
                                      Time ready) const {
    const Element& dispatch = section_.elements[row];
    const Time end = start + dispatch.length;
    std::int64_t change = ready > dispatch.start ? -1 : 0;
    if (dispatch.next != none) {
        const Element& next = section_.elements[dispatch.next];
        if (end > next.start) {
            ++change;
            if (next.waker != none && partial.has(next.waker)) {
                change -= partial.starts[next.waker] + next.waker_offset > next.start;
            }
        }
    }
    for (Index number = dispatch.woken; number != none;) {
        const Element& woken = section_.elements[number];
        number = woken.sibling;
        if (start + woken.waker_offset <= woken.start) continue;
        ++change;
        if (woken.previous == row) {
            change -= end > woken.start;
        } else if (woken.previous != none && partial.has(woken.previous)) {
            change -= partial.end_of(section_, woken.previous) > woken.start;
        }
    }
    return change;
}

// Lets the most urgent dispatches follow, each where a CPU is free first. Returns the number of
// those that are late then; nothing if it is certain that one will be late.
std::optional<int> Children::number_late(const PartialSchedule& partial, const Child& child) {
    const Time soonest = *std::ranges::min_element(free_);
    for (Index cpu = 0; cpu < cpus(); ++cpu) passed_[cpu] = partial.cpus[cpu].passed;
    passed_[child.cpu] = child.passed;
    int late = 0;
    for (const auto& [row, ready] : candidates_.urgent()) {
        if (row == child.row) continue;
        const Element& dispatch = section_.elements[row];
        if (std::max(ready, soonest) > dispatch.latest) return std::nullopt;
        const Index first = std::ranges::min_element(free_) - free_.begin();
        const Fit fit = fitting(section_, first, passed_[first], std::max(ready, free_[first]),
                                dispatch.length);
        passed_[first] = fit.passed;
        late += fit.start > dispatch.latest;
        free_[first] = fit.start + dispatch.length;
    }
    return late;
}

} // namespace dfopt::beam
