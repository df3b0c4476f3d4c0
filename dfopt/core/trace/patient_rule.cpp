#include "patient_rule.hpp"

#include <algorithm>
#include <utility>

namespace dfopt::patience {

PatientRule::PatientRule(const Recording& recording, Index cpus, Time patience)
    : recording_(recording), patience_(patience), unstarted_(end()), placements_(end()),
      ready_(end()), missing_(end()), followers_(recording_.dispatches.first(end())), turn_(end()),
      own_(fragments()) {
    Index taken = 0, cut = 0;
    for (Index cpu = 0; cpu < cpus; ++cpu) {
        const Index first_taken = taken, first_cut = cut;
        while (taken < std::ssize(recording_.taken) &&
               recording_.dispatches[recording_.taken[taken]].cpu == cpu) {
            ++taken;
        }
        while (cut < std::ssize(recording_.cuts) && recording_.cuts[cut].cpu == cpu) ++cut;
        cpus_.push_back(
            {.taken = first_taken, .taken_end = taken, .cut = first_cut, .cut_end = cut});
    }
    for (Index dispatch = 0; dispatch < end(); ++dispatch) {
        const Dispatch& own = recording_.dispatches[dispatch];
        ready_[dispatch] = own.ready_by;
        missing_[dispatch] = (own.previous != none) + (own.waker != none);
        if (missing_[dispatch] == 0) to_come_.emplace(own.ready_by, dispatch);
    }
}

// Returns the number of fragments.
std::size_t PatientRule::fragments() const {
    Index largest = none;
    for (const Dispatch& own : recording_.dispatches) largest = std::max(largest, own.fragment);
    return static_cast<std::size_t>(largest + 1);
}

Index PatientRule::run(std::int64_t events) {
    for (; unstarted_ > 0 && events > 0; --events) {
        let_wait();
        Choice choice = at_its_place();
        if (choice.dispatch == none) {
            Time usable = -never;
            for (const Cpu& cpu : cpus_) usable = std::max(usable, cpu.usable_until);
            choice = urgent(usable);
        }
        if (choice.dispatch == none) choice = by_rule();
        if (choice.dispatch != none) {
            start(choice);
        } else if (!lapse()) {
            now_ = next_event();
        }
    }
    return unstarted_;
}

// Lets the dispatches wait that are ready by now, at the ends of their queues.
void PatientRule::let_wait() {
    while (!to_come_.empty() && to_come_.top().first <= now_) {
        const Index dispatch = to_come_.top().second;
        to_come_.pop();
        const Dispatch& own = recording_.dispatches[dispatch];
        turn_[dispatch] = ++turns_;
        own_[own.fragment].emplace(turns_, dispatch);
        common_.emplace(turns_, dispatch);
        const Time hurry_from = recording_.hurry_from[dispatch];
        if (hurry_from < never) urgent_.emplace(hurry_from, dispatch);
    }
}

// Returns when the next place on a CPU is taken.
Time PatientRule::next_taken(const Cpu& cpu) const {
    if (cpu.taken == cpu.taken_end) return never;
    return recording_.dispatches[recording_.taken[cpu.taken]].start;
}

// Returns a dispatch that starts at its reserved place now.
//
// Passes over the places that have begun. If nobody starts, finds out for each CPU until when a
// dispatch may run that starts now.
PatientRule::Choice PatientRule::at_its_place() {
    for (Index cpu = 0; cpu < std::ssize(cpus_); ++cpu) {
        Cpu& own = cpus_[cpu];
        for (; own.cut < own.cut_end && recording_.cuts[own.cut].time <= now_; ++own.cut) {
            own.held = none;
        }
        for (; own.taken < own.taken_end; ++own.taken) {
            const Index number = recording_.taken[own.taken];
            const bool may_move = number < end();
            if (may_move && placements_[number].cpu != none) continue; // it ran earlier
            const Dispatch& taking = recording_.dispatches[number];
            if (taking.start > now_) break;
            if (may_move) {
                if (turn_[number] > 0) return {number, cpu};
                break;
            }
            own.free_at = std::max(own.free_at, taking.start + taking.length);
            if (taking.fragment == evicts) own.held = none;
        }
        own.usable_until = own.free_at <= now_ ? next_taken(own) : -never;
    }
    return {};
}

// Returns a dispatch that is urgent and fits on a CPU; no CPU is usable for longer than `usable`.
PatientRule::Choice PatientRule::urgent(Time usable) const {
    for (const auto& [hurry_from, dispatch] : urgent_) {
        if (hurry_from > now_) break;
        if (now_ + recording_.dispatches[dispatch].length > usable) continue;
        const Index cpu = cpu_for(dispatch);
        if (cpu != none) return {dispatch, cpu};
    }
    return {};
}

// Returns the CPU for a dispatch that waits no longer, or `none` if it fits on none: one that holds
// its fragment, else one that holds nothing, else the one that has not run for longest.
Index PatientRule::cpu_for(Index dispatch) const {
    const Dispatch& own = recording_.dispatches[dispatch];
    Index chosen = none;
    for (Index number = 0; number < std::ssize(cpus_); ++number) {
        const Cpu& cpu = cpus_[number];
        if (now_ + own.length > cpu.usable_until) continue;
        if (cpu.held == own.fragment) return number;
        if (chosen == none || (cpus_[chosen].held != none &&
                               (cpu.held == none || cpu.used_at < cpus_[chosen].used_at))) {
            chosen = number;
        }
    }
    return chosen;
}

// Returns the dispatch that starts next by the rule.
PatientRule::Choice PatientRule::by_rule() {
    bool is_idle = false, is_empty = false;
    for (const Cpu& cpu : cpus_) {
        if (cpu.usable_until <= now_) continue;
        is_idle = true;
        is_empty = is_empty || cpu.held == none;
    }
    if (!is_idle) return {};
    const Choice held = by_affinity();
    if (held.dispatch != none) return held;
    // Then CPUs that have nothing to lose, and dispatches that have waited for long.
    for (const auto& [turn, dispatch] : common_) {
        const bool is_due = ready_[dispatch] + patience_ <= now_;
        if (!is_due && !is_empty) break;
        const Index cpu = cpu_for(dispatch);
        if (cpu != none && (is_due || cpus_[cpu].held == none)) return {dispatch, cpu};
    }
    return {};
}

// Returns the first dispatch of a fragment that a CPU holds, on the CPU that has run last.
PatientRule::Choice PatientRule::by_affinity() const {
    Choice choice;
    for (Index number = 0; number < std::ssize(cpus_); ++number) {
        const Cpu& cpu = cpus_[number];
        if (cpu.held == none || cpu.usable_until < now_) continue;
        if (choice.cpu != none && cpu.used_at <= cpus_[choice.cpu].used_at) continue;
        const Time room = cpu.usable_until - now_;
        for (const auto& [turn, dispatch] : own_[cpu.held]) {
            if (recording_.dispatches[dispatch].length > room) continue;
            choice = {dispatch, number};
            break;
        }
    }
    return choice;
}

// Takes a dispatch out of its queues, and lets a CPU run it.
void PatientRule::start(Choice choice) {
    const Dispatch& own = recording_.dispatches[choice.dispatch];
    own_[own.fragment].erase(turn_[choice.dispatch]);
    common_.erase(turn_[choice.dispatch]);
    turn_[choice.dispatch] = 0;
    urgent_.erase({recording_.hurry_from[choice.dispatch], choice.dispatch});
    placements_[choice.dispatch] = {now_, choice.cpu};
    Cpu& cpu = cpus_[choice.cpu];
    cpu.held = own.fragment;
    cpu.free_at = cpu.used_at = now_ + own.length;
    --unstarted_;
    const Index next = followers_.next[choice.dispatch];
    if (next != none) release(next, cpu.free_at);
    for (Index woken = followers_.woken[choice.dispatch]; woken != none;
         woken = followers_.sibling[woken]) {
        release(woken, now_ + recording_.dispatches[woken].waker_offset);
    }
}

// Lets a dispatch be ready at a time at the earliest, as one has started that it waited for.
void PatientRule::release(Index dispatch, Time time) {
    ready_[dispatch] = std::max(ready_[dispatch], time);
    if (--missing_[dispatch] == 0) to_come_.emplace(ready_[dispatch], dispatch);
}

// Gives up the places that are reserved from now on for dispatches that are not ready. Returns
// whether there are any.
bool PatientRule::lapse() {
    bool lapses = false;
    for (Cpu& cpu : cpus_) {
        if (next_taken(cpu) <= now_) {
            ++cpu.taken;
            lapses = true;
        }
    }
    return lapses;
}

// Returns when the next thing happens, where nothing more can start now: a dispatch gets ready or
// urgent, a CPU gets free or meets an obstacle, or the patience with a dispatch ends.
Time PatientRule::next_event() const {
    Time following = to_come_.empty() ? never : to_come_.top().first;
    bool is_idle = false;
    for (const Cpu& cpu : cpus_) {
        is_idle = is_idle || cpu.free_at <= now_;
        following = std::min(following, cpu.free_at > now_ ? cpu.free_at : next_taken(cpu));
    }
    if (!is_idle) return following;
    for (const auto& [turn, dispatch] : common_) {
        const Time due = ready_[dispatch] + patience_;
        if (due <= now_) continue;
        following = std::min(following, due);
        break;
    }
    const auto urgent = urgent_.upper_bound({now_, end()});
    return urgent == urgent_.end() ? following : std::min(following, urgent->first);
}

} // namespace dfopt::patience
