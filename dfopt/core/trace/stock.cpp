#include "stock.hpp"

#include <algorithm>

namespace dfopt::beam {

namespace {

// The number of equal parts of a section; of each the tightest time is looked at.
constexpr Time parts = 16;

} // namespace

Stock::Stock(const Section& section) : begin_(section.elements[0].low) {
    // The slack is a broken line. From each of these times on it rises by more or less.
    struct Bend {
        Time time, rise;
    };
    std::vector<Bend> bends;
    for (const Element& dispatch : section.dispatches()) {
        if (dispatch.latest >= far) continue;
        bends.push_back({dispatch.latest, -1});
        bends.push_back({dispatch.latest + dispatch.length, 1});
    }
    for (const Cpu& cpu : section.cpus) {
        Time free = std::max(cpu.free_from, begin_);
        free_at_first_ += free;
        bends.push_back({free, 1});
        for (const Fixed& fixed : section.fixed_from(cpu.fixed_first, cpu.fixed_end)) {
            if (fixed.end <= std::max(fixed.start, free)) continue;
            bends.push_back({std::max(fixed.start, free), -1});
            bends.push_back({fixed.end, 1});
            free = fixed.end;
        }
    }
    std::ranges::sort(bends, {}, &Bend::time);
    const Time first = bends.front().time;
    Time last = first;
    for (const Bend& bend : bends) {
        if (bend.time < far) last = bend.time;
    }
    const Time width = (last - first) / parts + 1;
    Time slack = 0, rise = 0, now = first, part = -1;
    for (const Bend& bend : bends) {
        if (bend.time > last) break;
        slack += rise * (bend.time - now);
        rise += bend.rise;
        now = bend.time;
        if ((now - first) / width != part) {
            part = (now - first) / width;
            tightest_.push_back({now, slack});
        } else if (slack <= tightest_.back().slack) {
            tightest_.back() = {now, slack};
        }
    }
}

Time Stock::not_needed(const Element& dispatch, std::size_t number) const {
    return dispatch.length -
           std::clamp<Time>(tightest_[number].time - dispatch.latest, 0, dispatch.length);
}

bool Stock::suffices(std::span<const Time> sooner, const Element& dispatch,
                     std::span<const Time> free, Time busy) const {
    Time lost = -busy - free_at_first_, last = begin_;
    for (const Time time : free) {
        lost += std::max(time, begin_);
        last = std::max(last, time);
    }
    for (std::size_t i = 0; i < times(); ++i) {
        // By a time before, what has been placed may not have run.
        if (tightest_[i].time < last) continue;
        if (lost + sooner[i] + not_needed(dispatch, i) > tightest_[i].slack) return false;
    }
    return true;
}

} // namespace dfopt::beam
