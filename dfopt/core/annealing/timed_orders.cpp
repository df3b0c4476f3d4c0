// Starts of the elements of a schedule: each as early as everything before it permits.

#include "timed_orders.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace dfopt::annealing {

namespace {

// A schedule settles if each of its starts changes at most 100 times in the mean.
constexpr Index updates_to_settle = 100;

} // namespace

Calendar::Calendar(const TraceRows& trace) : begin_(never) {
    Time end = -never;
    for (const Dispatch& dispatch : trace.dispatches) {
        begin_ = std::min(begin_, dispatch.ready_by);
        end = std::max(end, dispatch.start + dispatch.length);
    }
    // In the mean about one block begins in each cell.
    cells_ += std::ssize(trace.fixed) / trace.cpus;
    width_ = std::max<Time>(end - begin_, 0) / cells_ + 1;
    auto next = trace.fixed.begin();
    for (Index cpu = 0; cpu < trace.cpus; ++cpu) {
        Index block = std::ssize(blocks_);
        for (; next != trace.fixed.end() && next->cpu == cpu; ++next) {
            blocks_.push_back({next->start, next->start + next->length});
        }
        blocks_.push_back({never, never + 1});
        first_.push_back(block);
        for (Index cell = 1; cell < cells_; ++cell) {
            while (blocks_[block].end <= begin_ + width_ * cell) ++block;
            first_.push_back(block);
        }
    }
}

Time Calendar::earliest_fit(Index cpu, Time time, Time length) const {
    const Index cell = std::clamp<Index>((time - begin_) / width_, 0, cells_ - 1);
    const Block* block = &blocks_[first_[cpu * cells_ + cell]];
    while (block->end <= time) ++block;
    for (; block->start < time + length; ++block) time = block->end;
    return time;
}

void Queue::add(Index element, Time key) {
    if (is_queued_[element]) return;
    is_queued_[element] = true;
    std::size_t hole = heap_.size();
    heap_.emplace_back();
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / 2;
        if (heap_[parent].key <= key) break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = {element, key};
}

Index Queue::pop() {
    const Index element = heap_.front().element;
    is_queued_[element] = false;
    const Entry moved = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return element;
    std::size_t hole = 0;
    for (;;) {
        std::size_t child = 2 * hole + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && heap_[child + 1].key < heap_[child].key) ++child;
        if (heap_[child].key >= moved.key) break;
        heap_[hole] = heap_[child];
        hole = child;
    }
    heap_[hole] = moved;
    return element;
}

void Queue::clear() {
    for (const auto& [element, key] : heap_) is_queued_[element] = false;
    heap_.clear();
}

TimedOrders::TimedOrders(const TraceRows& trace, const Bounds& bounds)
    : trace_(trace), bounds_(bounds), calendar_(trace) {
    const Followers followers(trace.dispatches);
    for (Index number = 0; number < dispatches(); ++number) {
        elements_.push_back({trace.dispatches[number], Role::moves, trace.latest[number],
                             followers.next[number], followers.woken[number],
                             followers.sibling[number]});
    }
    for (const Dispatch& block : trace.fixed) {
        if (block.fragment == evicts) elements_.push_back({block, Role::block});
    }
    for (const Cut& cut : trace.cuts) {
        elements_.push_back({{.cpu = cut.cpu, .start = cut.time}, Role::cut});
    }
    for (Index cpu = 0; cpu < trace.cpus; ++cpu) {
        elements_.push_back({{.cpu = cpu, .start = -never}, Role::head});
        elements_.push_back({{.cpu = cpu, .start = never}, Role::tail});
    }
    for (Element& element : elements_) {
        element.end = element.start + element.length;
        if (element.role == Role::moves) continue;
        element.ready_by = element.start;
        element.previous = element.waker = none;
    }
    openers_ = ElementSet(elements_.size());
    queue_ = Queue(elements_.size());
    kept_in_.assign(elements_.size(), period_);
    arrange();
}

// Links the elements of each CPU in their order, and orders the dispatches by fragment.
void TimedOrders::arrange() {
    std::vector<Index> order(elements_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [this](Index number) {
        const Element& one = elements_[number];
        return std::tuple(one.cpu, one.start, one.role == Role::cut ? -never : one.end);
    });
    for (std::size_t place = 1; place < order.size(); ++place) {
        if (elements_[order[place]].cpu == elements_[order[place - 1]].cpu) {
            link(order[place - 1], order[place]);
        }
    }
    ranked_.resize(dispatches());
    std::iota(ranked_.begin(), ranked_.end(), 0);
    std::ranges::stable_sort(ranked_, {}, [this](Index at) { return elements_[at].fragment; });
    for (Index rank = 0; rank < dispatches(); ++rank) elements_[ranked_[rank]].rank = rank;
}

Cost TimedOrders::meeting_cost(Index left, Index right) const {
    const Element &one = elements_[left], &other = elements_[right];
    if (one.role == Role::cut || other.role == Role::cut) return 0;
    if (one.role == Role::head) return other.role == Role::tail ? 0 : other.first;
    if (other.role == Role::tail) return one.last;
    return switch_cost(one, other, trace_.matrix, trace_.fragments);
}

bool TimedOrders::settle() {
    for (Index element = 0; element < dispatches(); ++element) {
        const Time wait = wait_of(element);
        totals_.waits += wait;
        totals_.long_waits += wait > bounds_.each;
    }
    for (Index element = 0; element < size(); ++element) queue_after(element, 0);
    if (!propagate(updates_to_settle * size())) return false;
    for (Index element = 0; element < size(); ++element) {
        const Index after = elements_[element].after;
        if (after != none) totals_.cost += meeting_cost(element, after);
    }
    return true;
}

void TimedOrders::link(Index left, Index right) {
    changed(left).after = right;
    changed(right).before = left;
}

void TimedOrders::put_on(Index begin, Index end, Index behind, Index cpu) {
    Time time = elements_[behind].end;
    for (Index element = begin;; element = elements_[element].after) {
        Element& one = changed(element);
        one.cpu = cpu;
        time = std::max(time, one.ready_by);
        queue_.add(element, time);
        time += one.length;
        if (element == end) return;
    }
}

void TimedOrders::take_back(Index begin, Index end, Index cpu) {
    for (Index element = begin;; element = elements_[element].after) {
        changed(element).cpu = cpu;
        if (element == end) return;
    }
}

void TimedOrders::queue_after(Index element, Time time) {
    queue_.add(element, std::max(time, elements_[element].start));
}

bool TimedOrders::propagate(Index most_updates) {
    log_.clear();
    for (Index updates = 0; !queue_.empty(); ++updates) {
        if (updates == most_updates || !update(queue_.pop())) {
            queue_.clear();
            return false;
        }
    }
    return totals_.waits <= bounds_.total && totals_.long_waits <= bounds_.most_long;
}

void TimedOrders::restore(const Totals& totals) {
    for (auto change = log_.rbegin(); change != log_.rend(); ++change) {
        Element& one = elements_[change->element];
        one.start = change->start;
        one.end = change->end;
    }
    log_.clear();
    totals_ = totals;
}

void TimedOrders::watch(Index low, Index high) {
    openers_.clear();
    low_ = low;
    high_ = high;
    for (Index element = low; element < high; ++element) note_opening(element);
}

void TimedOrders::note_opening(Index element) {
    if (element < low_ || element >= high_) return;
    const Element& one = elements_[element];
    openers_.set(element, elements_[one.before].fragment != one.fragment);
}

void TimedOrders::keep() {
    kept_.clear();
    ++period_;
    kept_totals_ = totals_;
}

void TimedOrders::go_back() {
    for (const auto& [element, before] : kept_) elements_[element] = before;
    for (const auto& [element, before] : kept_) note_opening(element);
    totals_ = kept_totals_;
    keep();
}

// Returns an element that is about to change, after what it was has been kept.
Element& TimedOrders::changed(Index element) {
    if (kept_in_[element] != period_) {
        kept_in_[element] = period_;
        kept_.emplace_back(element, elements_[element]);
    }
    return elements_[element];
}

// Returns how long an element waits.
Time TimedOrders::wait_of(Index element) const {
    const Element& one = elements_[element];
    if (one.previous == none) return one.start - one.ready_by;
    return one.start - std::max(one.ready_by, elements_[one.previous].end);
}

// Counts the waits that depend on when an element runs, or no longer counts them.
void TimedOrders::count_waits(Index element, std::int64_t sign) {
    for (const Index waiting : {element, elements_[element].next}) {
        if (waiting == none) continue;
        const Time wait = wait_of(waiting);
        totals_.waits += sign * wait;
        totals_.long_waits += sign * (wait > bounds_.each);
    }
}

// Gives an element other times, and writes down those that it had.
void TimedOrders::change_times(Index element, Time start, Time end) {
    Element& one = changed(element);
    log_.push_back({element, one.start, one.end});
    count_waits(element, -1);
    one.start = start;
    one.end = end;
    count_waits(element, 1);
}

// Works out the start of an element. Each of these returns whether it is permitted.

bool TimedOrders::update(Index element) {
    const Element& one = elements_[element];
    if (one.role == Role::head || one.role == Role::tail) return true;
    if (one.role == Role::cut) return update_cut(element);
    Time time = one.ready_by;
    if (one.before != none) time = std::max(time, elements_[one.before].end);
    if (one.previous != none) time = std::max(time, elements_[one.previous].end);
    if (one.waker != none) time = std::max(time, elements_[one.waker].start + one.waker_offset);
    return one.role == Role::block ? time <= one.start : update_dispatch(element, time);
}

// Nothing before a cut may start after it; what comes after it starts after what was before it.
bool TimedOrders::update_cut(Index element) {
    const Element& one = elements_[element];
    const Element& before = elements_[one.before];
    if (before.role == Role::moves && before.start >= one.start) return false;
    const Time end = std::max(one.start, before.end);
    if (end == one.end) return true;
    change_times(element, one.start, end);
    queue_after(one.after, end);
    return true;
}

// Lets a dispatch start at a time, or where it fits from then on.
bool TimedOrders::update_dispatch(Index element, Time time) {
    const Element& one = elements_[element];
    time = calendar_.earliest_fit(one.cpu, time, one.length);
    if (time > one.latest) return false;
    if (time == one.start) return true;
    const Time end = time + one.length;
    change_times(element, time, end);
    queue_after(one.after, end);
    if (one.next != none) queue_after(one.next, end);
    for (Index woken = one.woken; woken != none; woken = elements_[woken].sibling) {
        queue_after(woken, time + elements_[woken].waker_offset);
    }
    return true;
}

} // namespace dfopt::annealing
