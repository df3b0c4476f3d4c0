#include "sections.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace dfopt::beam {

namespace {

// Returns the latest start up to `late` on a CPU, without passing what counts for its cost. Of what
// is fixed, what lies behind everything that is still to come is dropped.
Time before_fixed(Rows<Fixed>& fixed, Time start, Time late, Time length) {
    while (!fixed.empty() && fixed.back().start >= late + length) {
        fixed = fixed.first(fixed.size() - 1);
    }
    for (auto own = fixed.rbegin(); own != fixed.rend() && own->start > start; ++own) {
        if (own->role == Role::cut) {
            late = std::min(late, own->start - 1);
        } else if (own->role == Role::evicts || (own->start < late + length && late < own->end)) {
            late = std::min(late, own->start - length);
        }
    }
    return late;
}

} // namespace

Sections::Sections(const TraceRows& trace, Rows<Time> ready, bool gives_way)
    : trace_(trace), ready_(ready), followers_(trace.dispatches), cpus_(trace.cpus),
      order_(trace.size()), local_(trace.size(), none) {
    Index fragments = 0;
    for (const Dispatch& dispatch : trace.dispatches) {
        placements_.push_back({dispatch.start, dispatch.cpu});
        fragments = std::max(fragments, dispatch.fragment + 1);
    }
    numbers_.resize(fragments);
    weights_.assign(fragments, 0);
    std::vector<double> uses(fragments, 0);
    for (const Dispatch& dispatch : trace.dispatches) {
        weights_[dispatch.fragment] += static_cast<double>(dispatch.entry);
        ++uses[dispatch.fragment];
    }
    if (!trace.matrix.empty()) {
        std::ranges::fill(weights_, 0);
        std::ranges::fill(uses, static_cast<double>(trace.fragments));
        for (std::size_t pair = 0; pair < trace.matrix.size(); ++pair) {
            const std::size_t after = pair % trace.fragments;
            if (after < weights_.size()) weights_[after] += static_cast<double>(trace.matrix[pair]);
        }
    }
    for (std::size_t one = 0; one < weights_.size(); ++one)
        weights_[one] /= std::max(uses[one], 1.0);
    for (Index row = 0; row < std::ssize(trace.fixed); ++row) {
        const Dispatch& block = trace.fixed[row];
        const Role role = block.fragment == evicts ? Role::evicts : Role::plain;
        cpus_[block.cpu].fixed.push_back({block.start, block.start + block.length, role, row});
    }
    for (const Cut& cut : trace.cuts) {
        cpus_[cut.cpu].fixed.push_back({cut.time, cut.time, Role::cut});
    }
    for (OnCpu& on : cpus_) {
        std::ranges::stable_sort(on.fixed, {}, [](const Fixed& fixed) {
            return std::tuple(fixed.start, fixed.role != Role::cut, fixed.end);
        });
    }
    const auto before = [this](Index one, Index other) { return starts_before(one, other); };
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::sort(order_, before);
    if (gives_way) {
        give_way();
        std::ranges::sort(order_, before);
    }
    for (Index at = 0; at < std::ssize(order_); ++at) {
        cpus_[placements_[order_[at]].cpu].positions.push_back(at);
    }
}

// Of those that start together, the ones of no length come first.
bool Sections::starts_before(Index one, Index other) const {
    const auto key = [this](Index row) {
        return std::tuple(start(row), trace_.dispatches[row].length > 0, row);
    };
    return key(one) < key(other);
}

// Moves every dispatch to as late as it may start while its CPU keeps its order.
void Sections::give_way() {
    std::vector<Time> bounds(cpus_.size(), never);
    std::vector<Rows<Fixed>> fixed;
    for (const OnCpu& on : cpus_) fixed.emplace_back(on.fixed);
    for (auto row = order_.rbegin(); row != order_.rend(); ++row) {
        auto& [own, cpu] = placements_[*row];
        // Those of no length could change their order with others that start at the same time.
        if (const Time length = trace_.dispatches[*row].length; length > 0) {
            Time late = std::min(trace_.latest[*row], bounds[cpu] - length);
            const Index next = followers_.next[*row];
            if (next != none) late = std::min(late, start(next) - length);
            for (Index one = followers_.woken[*row]; one != none; one = followers_.sibling[one]) {
                late = std::min(late, start(one) - trace_.dispatches[one].waker_offset);
            }
            own = before_fixed(fixed[cpu], own, late, length);
        }
        bounds[cpu] = own;
    }
}

Integers Sections::cuts(Index first, Index distance) {
    const std::vector<Time> spare = spare_time();
    const Index count = std::ssize(order_), reach = distance / 4;
    cuts_ = {0};
    for (Index middle = distance - first; middle < count; middle += distance) {
        const Index low = std::max(cuts_.back() + 1, middle - reach);
        const Index high = std::min(count, middle + reach + 1);
        if (low >= high) continue;
        cuts_.push_back(std::max_element(spare.begin() + low, spare.begin() + high) -
                        spare.begin());
    }
    cuts_.push_back(count);
    return cuts_;
}

// Returns for how long CPUs rest between all dispatches before each one and all others.
std::vector<Time> Sections::spare_time() const {
    std::vector<Time> spare(order_.size(), 0);
    for (const OnCpu& on : cpus_) {
        auto fixed = on.fixed.begin();
        for (std::size_t i = 1; i < on.positions.size(); ++i) {
            const Time from = end(order_[on.positions[i - 1]]);
            const Time until = start(order_[on.positions[i]]);
            Time rest = until - from;
            while (fixed != on.fixed.end() && fixed->start < from) ++fixed;
            for (; fixed != on.fixed.end() && fixed->start < until; ++fixed) {
                rest -= fixed->end - fixed->start;
            }
            for (Index at = on.positions[i - 1] + 1; at <= on.positions[i]; ++at) {
                spare[at] += std::max<Time>(rest, 0);
            }
        }
    }
    return spare;
}

void Sections::take(Index begin, Index end, const Limits& limits, Time wait,
                    const Settings& settings) {
    for (; begin_ < begin; ++begin_) cpus_[placements_[order_[begin_]].cpu].head = order_[begin_];
    for (OnCpu& on : cpus_) {
        while (on.ahead < std::ssize(on.positions) && on.positions[on.ahead] < end) ++on.ahead;
    }
    search_.reset();
    section_ = Section();
    section_.size = end - begin;
    section_.limits = limits;
    take_dispatches(begin, end, wait);
    tighten();
    number_by_low();
    take_surroundings();
    number_fragments();
    search_.emplace(section_, settings);
}

// Returns a dispatch as it runs now, at times that count from where the section begins.
Element Sections::element(Index row) const {
    Element made{trace_.dispatches[row]};
    made.start = start(row) - origin_;
    made.cpu = placements_[row].cpu;
    return made;
}

// Takes the dispatches of the section, and what those outside say of their times.
void Sections::take_dispatches(Index begin, Index end, Time wait) {
    inside_.assign(order_.begin() + begin, order_.begin() + end);
    std::ranges::sort(inside_);
    origin_ = never;
    for (Index number = 0; number < section_.size; ++number) {
        local_[inside_[number]] = number;
        origin_ = std::min(origin_, trace_.dispatches[inside_[number]].ready_by);
    }
    for (const Index row : inside_) {
        Element own = element(row);
        own.latest = trace_.latest[row];
        if (wait != never) {
            own.latest = std::min(own.latest, std::max(start(row), ready_[row] + wait));
        }
        if (end < std::ssize(order_)) own.latest = std::min(own.latest, start(order_[end]));
        limit(row, own);
        own.latest -= origin_;
        section_.elements.push_back(own);
    }
    for (const Index row : inside_) local_[row] = none;
}

// Lets dispatches outside the section limit one inside, and links it to those inside.
void Sections::limit(Index row, Element& own) const {
    const auto& [dispatches, next] = std::tie(trace_.dispatches, followers_.next[row]);
    own.since = own.ready_by;
    if (own.previous != none && local_[own.previous] == none) {
        own.since = std::max(own.since, end(own.previous));
    }
    own.low = own.since;
    if (own.waker != none && local_[own.waker] == none) {
        own.low = std::max(own.low, start(own.waker) + own.waker_offset);
    }
    if (next != none) {
        own.next = local_[next];
        own.next_since = dispatches[next].ready_by - origin_;
        if (own.next == none) {
            own.next_start = start(next) - origin_;
            own.latest = std::min(own.latest, start(next) - own.length);
        }
    }
    for (Index woken = followers_.woken[row]; woken != none; woken = followers_.sibling[woken]) {
        if (local_[woken] != none) continue;
        own.latest = std::min(own.latest, start(woken) - dispatches[woken].waker_offset);
    }
    own.since -= origin_;
    own.low -= origin_;
    if (own.previous != none) own.previous = local_[own.previous];
    if (own.waker != none) own.waker = local_[own.waker];
}

// Lets earliest and latest starts leave time for what comes before and after.
void Sections::tighten() {
    std::vector<Element>& own = section_.elements;
    for (Element& one : own) {
        if (one.previous != none) {
            one.low = std::max(one.low, own[one.previous].low + own[one.previous].length);
        }
        if (one.waker != none) {
            one.low = std::max(one.low, own[one.waker].low + one.waker_offset);
        }
    }
    for (auto one = own.rbegin(); one != own.rend(); ++one) {
        if (one->previous != none) {
            Element& previous = own[one->previous];
            previous.latest = std::min(previous.latest, one->latest - previous.length);
        }
        if (one->waker != none) {
            Element& waker = own[one->waker];
            waker.latest = std::min(waker.latest, one->latest - one->waker_offset);
        }
    }
    for (Element& one : own) one.latest = std::min(one.latest, far);
}

// Puts the dispatches into the order of their earliest starts, and into other orders.
void Sections::number_by_low() {
    const auto sorted = [this](const auto& key) {
        std::vector<Index> order(section_.size);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {},
                                 [&](Index number) { return key(section_.elements[number]); });
        return order;
    };
    const std::vector<Index> by_low = sorted([](const Element& own) { return own.low; });
    std::vector<Index> renumbered(section_.size + 1);
    renumbered.back() = none;
    std::vector<Index> rows;
    std::vector<Element> elements;
    for (const Index number : by_low) {
        renumbered[number] = std::ssize(elements);
        elements.push_back(section_.elements[number]);
        rows.push_back(inside_[number]);
    }
    for (Element& own : elements) {
        for (Index* link : {&own.previous, &own.waker, &own.next}) {
            if (*link != none) *link = renumbered[*link];
        }
    }
    for (Index number = 0; number < section_.size; ++number) {
        if (elements[number].waker == none) continue;
        Element& waker = elements[elements[number].waker];
        elements[number].sibling = waker.woken;
        waker.woken = number;
    }
    inside_ = rows;
    section_.elements = elements;
    section_.by_latest = sorted([](const Element& own) { return own.latest; });
    section_.guided =
        sorted([](const Element& own) { return std::tuple(own.cpu, own.start, own.length > 0); });
}

// Takes what is fixed between the dispatches, and those before and after the section on the CPUs.
void Sections::take_surroundings() {
    Index guided = 0;
    for (Index number = 0; number < std::ssize(cpus_); ++number) {
        const OnCpu& on = cpus_[number];
        Cpu cpu{.guided_first = guided, .fixed_first = std::ssize(section_.fixed)};
        while (guided < section_.size && section_.elements[section_.guided[guided]].cpu == number) {
            ++guided;
        }
        cpu.guided_end = guided;
        auto first = on.fixed.begin(), last = on.fixed.end();
        const auto behind = [&](Index row) {
            return std::ranges::upper_bound(on.fixed, start(row), {}, &Fixed::start);
        };
        if (on.head != none) {
            cpu.element_before = add_outside(element(on.head));
            cpu.free_from = end(on.head) - origin_;
            first = behind(on.head);
        }
        const bool has_tail = on.ahead < std::ssize(on.positions);
        const Index tail = has_tail ? order_[on.positions[on.ahead]] : none;
        if (has_tail) {
            cpu.element_after = add_outside(element(tail));
            last = behind(tail);
        }
        for (; first < last; ++first) {
            Fixed fixed{first->start - origin_, first->end - origin_, first->role};
            if (fixed.role == Role::evicts) {
                fixed.element = add_outside({trace_.fixed[first->element]});
            }
            section_.fixed.push_back(fixed);
        }
        cpu.passed_at_end = std::ssize(section_.fixed);
        if (has_tail) section_.fixed.push_back({start(tail) - origin_, far, Role::plain});
        cpu.fixed_end = std::ssize(section_.fixed);
        section_.cpus.push_back(cpu);
    }
}

Index Sections::add_outside(Element element) {
    section_.elements.push_back(element);
    return std::ssize(section_.elements) - 1;
}

// Numbers the fragments of the section, and takes what is known of them.
void Sections::number_fragments() {
    std::vector<Index> used;
    for (const Element& one : section_.elements) {
        if (one.fragment != evicts) used.push_back(one.fragment);
    }
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (Index number = 0; number < std::ssize(used); ++number) numbers_[used[number]] = number;
    for (Element& one : section_.elements) {
        if (one.fragment != evicts) one.fragment = numbers_[one.fragment];
    }
    for (const Index fragment : used) {
        section_.weights.push_back(weights_[fragment]);
        if (trace_.matrix.empty()) continue;
        for (const Index other : used) {
            section_.matrix.push_back(trace_.matrix[fragment * trace_.fragments + other]);
        }
    }
}

void Sections::put_back() {
    for (Index number = 0; number < section_.size; ++number) {
        const auto& [start, cpu] = found_->placements[number];
        placements_[inside_[number]] = {start + origin_, cpu};
    }
    std::ranges::sort(inside_,
                      [this](Index one, Index other) { return starts_before(one, other); });
    std::ranges::copy(inside_, order_.begin() + begin_);
}

} // namespace dfopt::beam
