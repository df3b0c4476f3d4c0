// Starts of the elements of a stretch: each as early as everything before it permits.

#include "stretch.hpp"

#include <algorithm>
#include <utility>

namespace dfopt::stretch {

namespace {

// A change that moves more than 1,000 starts is given up. (If elements wait for each other in a
// circle, their starts would grow for ever.)
constexpr int most_updates = 1'000;

// A stretch settles if each of its starts changes at most 100 times in the mean.
constexpr Index updates_to_settle = 100;

} // namespace

Time Calendar::earliest_fit(std::int64_t cpu, Time time, Time length) const {
    const Index cell = std::clamp<Index>((time - begin) / width, 0, cells - 1);
    const Block* block = &blocks[first[cpu * cells + cell]];
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

Stretch::Stretch(const Surroundings& around, std::vector<Element> elements, Totals totals)
    : around_(&around), elements_(std::move(elements)), ranked_(around.dispatches), totals_(totals),
      late_(elements_.size()), openers_(elements_.size()), queue_(elements_.size()) {
    for (Index element = 0; element < dispatches(); ++element) {
        ranked_[elements_[element].rank] = element;
    }
}

Cost Stretch::meeting_cost(Index left, Index right) const {
    const Element &one = elements_[left], &other = elements_[right];
    if (one.role == Role::cut || other.role == Role::cut) return 0;
    if (one.role == Role::head) return other.role == Role::tail ? 0 : other.first;
    if (other.role == Role::tail) return one.last;
    if (!around_->matrix.empty()) {
        return around_->matrix[one.fragment * around_->fragments + other.fragment];
    }
    return one.always + (one.fragment != other.fragment ? one.exit + other.entry : 0);
}

bool Stretch::settle() {
    for (Index element = 0; element < size(); ++element) queue_after(element, 0);
    for (Index updates = 0; !queue_.empty() && updates < updates_to_settle * size(); ++updates) {
        update(queue_.pop());
        log_.clear();
    }
    const bool is_settled = queue_.empty();
    for (Index element = 0; element < dispatches(); ++element) note_opening(element);
    totals_.cost = 0;
    for (Index element = 0; element < size(); ++element) {
        const Index after = elements_[element].after;
        if (after != nobody) totals_.cost += meeting_cost(element, after);
    }
    return is_settled;
}

void Stretch::link(Index left, Index right) {
    elements_[left].after = right;
    elements_[right].before = left;
}

void Stretch::put_on(Index begin, Index end, Index behind, std::int64_t cpu) {
    Time time = elements_[behind].end;
    for (Index element = begin;; element = elements_[element].after) {
        Element& one = elements_[element];
        one.cpu = cpu;
        time = std::max(time, one.ready);
        queue_.add(element, time);
        time += one.length;
        if (element == end) return;
    }
}

void Stretch::take_back(Index begin, Index end, std::int64_t cpu) {
    for (Index element = begin;; element = elements_[element].after) {
        elements_[element].cpu = cpu;
        if (element == end) return;
    }
}

void Stretch::queue_after(Index element, Time time) {
    queue_.add(element, std::max(time, elements_[element].start));
}

bool Stretch::propagate(double most_late) {
    log_.clear();
    bool is_permitted = true;
    for (int updates = 1; !queue_.empty(); ++updates) {
        update(queue_.pop());
        if (updates >= most_updates || static_cast<double>(totals_.lateness) > most_late) {
            is_permitted = false;
            break;
        }
    }
    queue_.clear();
    return is_permitted;
}

void Stretch::restore(const Totals& totals) {
    for (auto change = log_.rbegin(); change != log_.rend(); ++change) {
        Element& one = elements_[change->element];
        one.start = change->start;
        one.end = change->end;
        one.late = change->late;
        late_.set(change->element, change->late > 0);
    }
    log_.clear();
    totals_ = totals;
}

void Stretch::note_opening(Index element) {
    const Element& one = elements_[element];
    if (one.role != Role::moves) return;
    openers_.set(element, elements_[one.before].fragment != one.fragment);
}

// Returns how long an element waits.
Time Stretch::wait_of(Index element) const {
    const Element& one = elements_[element];
    const Time since =
        one.previous == nobody ? one.since : std::max(one.since, elements_[one.previous].end);
    return one.start - since;
}

// Counts the waits that depend on when an element runs, or no longer counts them.
void Stretch::count_waits(Index element, std::int64_t sign) {
    for (const Index waiting : {element, elements_[element].next}) {
        if (waiting == nobody) continue;
        const Time wait = wait_of(waiting);
        totals_.waits += sign * wait;
        totals_.long_waits += sign * (wait > bounds().each);
    }
}

// Gives an element other times, and writes down those that it had.
void Stretch::change_times(Index element, Time start, Time end, Time late) {
    Element& one = elements_[element];
    log_.push_back({element, one.start, one.end, one.late});
    totals_.lateness += late - one.late;
    one.late = late;
    late_.set(element, late > 0);
    if (end == one.end) return;
    count_waits(element, -1);
    one.start = start;
    one.end = end;
    count_waits(element, 1);
}

// Works out the start of an element.
void Stretch::update(Index element) {
    const Element& one = elements_[element];
    if (one.role == Role::head || one.role == Role::tail) return;
    if (one.role == Role::cut) {
        // Nothing before it may start after it.
        const Element& before = elements_[one.before];
        const Time late =
            before.role == Role::moves ? std::max<Time>(0, before.start + 1 - one.start) : 0;
        const Time end = std::max(one.start, before.end);
        const bool moves_on = end != one.end;
        if (moves_on || late != one.late) change_times(element, one.start, end, late);
        if (moves_on) queue_after(one.after, end);
        return;
    }
    Time time = one.ready;
    if (one.before != nobody) time = std::max(time, elements_[one.before].end);
    if (one.previous != nobody) time = std::max(time, elements_[one.previous].end);
    if (one.waker != nobody) time = std::max(time, elements_[one.waker].start + one.offset);
    if (one.role == Role::moves) {
        update_dispatch(element, time);
    } else {
        const Time late = std::max<Time>(0, time - one.start);
        if (late != one.late) change_times(element, one.start, one.end, late);
    }
}

// Lets a dispatch start at a time, or where it fits from then on.
void Stretch::update_dispatch(Index element, Time time) {
    const Element& one = elements_[element];
    time = around_->calendar.earliest_fit(one.cpu, time, one.length);
    const Time late = std::max<Time>(0, time - one.latest);
    if (time == one.start) {
        if (late != one.late) change_times(element, time, one.end, late);
        return;
    }
    const Time end = time + one.length;
    change_times(element, time, end, late);
    queue_after(one.after, end);
    if (one.next != nobody) queue_after(one.next, end);
    for (Index woken = one.woken; woken != nobody; woken = elements_[woken].sibling) {
        queue_after(woken, time + elements_[woken].offset);
    }
}

} // namespace dfopt::stretch
