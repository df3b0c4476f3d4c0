#include "caches.hpp"

namespace dfopt::lines {

namespace {

// Takes a line out of the order of use.
void unlink(Line* lines, std::int32_t line) {
    const auto [older, newer, state] = lines[line];
    lines[older].newer = newer;
    lines[newer].older = older;
}

} // namespace

Time Caches::touch(std::size_t cpu, std::int32_t first, std::int32_t number, Leaves leaves) {
    Line* own = cache(cpu);
    Ledger& ledger = ledger_[cpu];
    Time time = 0;
    std::int32_t last_read = -2; // the last line that came from memory
    for (std::int32_t line = first; line < first + number; ++line) {
        if (own[line].state == State::absent) {
            read(cpu, line, last_read, time);
        } else {
            move_to_front(own, line);
        }
        if (leaves == Leaves::clean) continue;
        write(cpu, line);
        if (leaves == Leaves::invalidated) {
            own[line].state = State::held;
            owner_[line] = 0;
            ++ledger.write_backs;
            time += times_.write_back;
        }
    }
    ledger.touched += number;
    return time;
}

// Reads a line that the CPU's cache does not hold.
void Caches::read(std::size_t cpu, std::int32_t line, std::int32_t& last_read, Time& time) {
    Ledger& ledger = ledger_[cpu];
    const auto shared = static_cast<std::size_t>(ledger.shared);
    const bool has_shared = ledger_[shared].capacity > 0;
    if (const std::int32_t owner = owner_[line]; owner > 0) {
        // Another CPU has written it: memory gets it first.
        cache(owner - 1)[line].state = State::held;
        owner_[line] = 0;
        ++ledger.write_backs;
        time += times_.write_back;
    }
    ++ledger.misses;
    if (has_shared && cache(shared)[line].state != State::absent) {
        ++ledger.shared_hits;
        time += times_.shared_hit;
        move_to_front(cache(shared), line);
    } else {
        if (times_.far_hit >= 0 && is_far(ledger.shared, line)) {
            ++ledger.far_hits;
            time += times_.far_hit;
        } else {
            time += last_read == line - 1 ? times_.sequential_miss : times_.miss;
            last_read = line;
        }
        if (has_shared) insert(shared, line);
    }
    if (insert(cpu, line)) {
        ++ledger.write_backs;
        time += times_.write_back;
    }
}

// Puts a line in front. Returns whether a written line had to leave.
bool Caches::insert(std::size_t number, std::int32_t line) {
    Line* lines = cache(number);
    Ledger& ledger = ledger_[number];
    bool was_written = false;
    if (ledger.used == ledger.capacity) {
        const std::int32_t oldest = lines[end()].newer;
        was_written = lines[oldest].state == State::written;
        if (was_written) owner_[oldest] = 0;
        lines[oldest].state = State::absent;
        unlink(lines, oldest);
    } else {
        ++ledger.used;
    }
    lines[line].state = State::held;
    link_in_front(lines, line);
    return was_written;
}

// Notes that a CPU has written a line, and removes it from all caches but this CPU's own two.
void Caches::write(std::size_t cpu, std::int32_t line) {
    if (cache(cpu)[line].state == State::written) return;
    for (std::size_t other = 0; other < ledger_.size(); ++other) {
        const bool is_own = other == cpu || static_cast<std::int64_t>(other) == ledger_[cpu].shared;
        Line* lines = cache(other);
        if (is_own || lines[line].state == State::absent) continue;
        lines[line].state = State::absent;
        unlink(lines, line);
        --ledger_[other].used;
        ++ledger_[cpu].invalidations;
    }
    cache(cpu)[line].state = State::written;
    owner_[line] = static_cast<std::int32_t>(cpu) + 1;
}

// Returns whether another shared cache holds a line.
bool Caches::is_far(std::int64_t shared, std::int32_t line) const {
    for (std::int64_t other = 0; other < std::ssize(ledger_); ++other) {
        const bool is_shared = ledger_[other].shared == other;
        if (is_shared && other != shared && cache(other)[line].state != State::absent) return true;
    }
    return false;
}

// Notes that a line has been used.
void Caches::move_to_front(Line* lines, std::int32_t line) const {
    if (lines[end()].older == line) return;
    unlink(lines, line);
    link_in_front(lines, line);
}

// Puts a line into the order of use as the newest.
void Caches::link_in_front(Line* lines, std::int32_t line) const {
    const std::int32_t before = lines[end()].older;
    lines[line].older = before;
    lines[line].newer = end();
    lines[before].newer = line;
    lines[end()].older = line;
}

DFOPT_OBJECT(Caches, Caches)
DFOPT_FUNCTION(Caches_touch, &Caches::touch)

} // namespace dfopt::lines
