// The loops of the yardstick for schedules, see yardstick.py.
//
// They stand for what one would write in an afternoon, and share no code with dfopt's core: a
// yardstick must not lean on what it measures.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#define YARDSTICK_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Task = std::int32_t;
using Index = std::int64_t;
using Cost = std::int64_t;

constexpr Task nobody = -1;

// Between two looks at the clock.
constexpr Index moves = 2000;

// Of what CPUs cost: the sum of powers leads to small maxima.
constexpr double power = 4;

double to_power(double number) {
    const double square = number * number;
    return square * square;
}

// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // Returns one of 0 … limit - 1, all equally likely; `limit` is below 2^31.
    Index below(Index limit) {
        return static_cast<Index>((next() >> 32) * static_cast<std::uint64_t>(limit) >> 32);
    }

    // Returns a number from 0 on, below 1.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // Returns whether to make a move that makes things worse by so much.
    bool accepts(double worse, double temperature) {
        return worse <= 0 || uniform() < std::exp(-worse / temperature);
    }

  private:
    std::uint64_t next() {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        return mixed ^ mixed >> 31;
    }

    std::uint64_t state_;
};

// What counts of an instance, for single tasks. The arrays are Python's.
struct Costs {
    Index tasks;
    Index cpus;
    const std::int32_t* way;   // of a switch with the execution after it; row = from, column = to
    const std::int32_t* first; // row = CPU
    const std::int32_t* last;
    const std::int32_t* idle;
    const std::int64_t* size;
    std::int64_t room;
    bool is_total;
    const std::int64_t* release;
    const std::int64_t*
        before; // the predecessors of task j are before[begin[j] … begin[j + 1] - 1]
    const std::int64_t* begin;

    // Returns the cost from one task to the next; nobody is before the first and after the last.
    Cost step(Index cpu, Task left, Task right) const {
        if (left == nobody) return right == nobody ? idle[cpu] : first[cpu * tasks + right];
        return right == nobody ? last[left] : way[left * tasks + right];
    }

    std::span<const std::int64_t> predecessors(Task task) const {
        return {before + begin[task], before + begin[task + 1]};
    }
};

// A schedule that changes, and the best one so far.
class Search {
  public:
    Search(const Costs& costs, std::uint64_t seed) : costs_(costs), random_(seed) {}
    virtual ~Search() = default;

    // Builds the first schedule; returns whether all tasks fit.
    virtual bool build(std::span<const std::int64_t> order) = 0;

    // Goes back to the best schedule.
    virtual void restart() = 0;

    // Makes moves at a temperature; keeps the best schedule.
    virtual void anneal(double temperature) = 0;

    // Returns the objective of the best schedule.
    virtual Cost best() const = 0;

    // Returns the tasks of a CPU in the best schedule.
    virtual std::vector<Task> best_row(Index cpu) const = 0;

  protected:
    const Costs costs_;
    Random random_;
};

// Exchanges runs of tasks, where no task waits.
class Exchanges final : public Search {
  public:
    Exchanges(const Costs& costs, std::uint64_t seed) : Search(costs, seed) {
        for (Index cpu = 0; cpu < costs_.cpus; ++cpu) rows_.push_back({{}, {}, costs_.idle[cpu]});
    }

    // Inserts each task where the objective, then the CPU's cost, grows least.
    bool build(std::span<const std::int64_t> order) override {
        for (const std::int64_t task : order) {
            if (!insert(static_cast<Task>(task))) return false;
        }
        best_ = rows_;
        return true;
    }

    void restart() override { rows_ = best_; }

    void anneal(double temperature) override {
        scale_ = std::max(1.0, static_cast<double>(largest_load()));
        least_ = value(best_);
        for (Index move = 0; move < moves; ++move) step(temperature);
    }

    Cost best() const override { return value(best_); }

    std::vector<Task> best_row(Index cpu) const override { return best_[cpu].tasks; }

  private:
    // The tasks of a CPU.
    struct Row {
        std::vector<Task> tasks;
        std::vector<Cost> cost; // up to each task
        Cost load = 0;
        std::int64_t filled = 0;

        Index length() const { return std::ssize(tasks); }
        Task at(Index place) const {
            return 0 <= place && place < length() ? tasks[place] : nobody;
        }
    };

    // Tasks that follow each other on a CPU: `end` is after the last.
    struct Run {
        Index cpu;
        Index begin;
        Index end;
    };

    // A row up to some place.
    struct Way {
        Cost cost;
        Task last;
    };

    Way up_to(const Row& row, Index place) const {
        return {place > 0 ? row.cost[place - 1] : 0, row.at(place - 1)};
    }

    // Returns a way on a CPU with a run of tasks after it.
    Way along(Index cpu, Way way, Run run) const {
        if (run.begin == run.end) return way;
        const Row& row = rows_[run.cpu];
        const Cost inner = row.cost[run.end - 1] - row.cost[run.begin];
        const Cost first = costs_.step(cpu, way.last, row.tasks[run.begin]);
        return {way.cost + first + inner, row.tasks[run.end - 1]};
    }

    // Returns what a CPU costs that goes on after this way with its row from a place on.
    Cost load_after(Index cpu, Way way, Index place) const {
        const Row& row = rows_[cpu];
        const Task right = row.at(place);
        const Cost rest = right == nobody ? 0 : row.load - row.cost[place];
        return way.cost + costs_.step(cpu, way.last, right) + rest;
    }

    // Works out what a row costs.
    void measure(Index cpu) {
        Row& row = rows_[cpu];
        row.cost.resize(row.tasks.size());
        row.filled = 0;
        Cost so_far = 0;
        Task left = nobody;
        for (Index place = 0; place < row.length(); ++place) {
            const Task task = row.tasks[place];
            so_far += costs_.step(cpu, left, task);
            row.cost[place] = so_far;
            row.filled += costs_.size[task];
            left = task;
        }
        row.load = so_far + costs_.step(cpu, left, nobody);
    }

    Cost largest_load() const { return std::ranges::max_element(rows_, {}, &Row::load)->load; }

    // Returns the objective.
    Cost value(const std::vector<Row>& rows) const {
        Cost sum = 0;
        Cost most = 0;
        for (const Row& row : rows) {
            sum += row.load;
            most = std::max(most, row.load);
        }
        return costs_.is_total ? sum : most;
    }

    // Inserts a task; returns whether it fits anywhere.
    bool insert(Task task) {
        const Cost most = largest_load();
        double least = std::numeric_limits<double>::infinity();
        Index cpu = nobody;
        Index place = 0;
        for (Index one = 0; one < costs_.cpus; ++one) {
            const Row& row = rows_[one];
            if (row.filled + costs_.size[task] > costs_.room) continue;
            for (Index there = 0; there <= row.length(); ++there) {
                const Way way = up_to(row, there);
                const Way longer = {way.cost + costs_.step(one, way.last, task), task};
                const Cost load = load_after(one, longer, there);
                const double more =
                    costs_.is_total ? static_cast<double>(load - row.load)
                                    : 1e6 * static_cast<double>(std::max<Cost>(0, load - most)) +
                                          static_cast<double>(load);
                if (more < least) {
                    least = more;
                    cpu = one;
                    place = there;
                }
            }
        }
        if (cpu == nobody) return false;
        rows_[cpu].tasks.insert(rows_[cpu].tasks.begin() + place, task);
        measure(cpu);
        return true;
    }

    // Draws two runs of tasks to exchange. On one CPU the first run begins first.
    std::pair<Run, Run> propose() {
        const Index a = random_.below(costs_.cpus);
        const Index b = random_.uniform() < 0.8 ? random_.below(costs_.cpus) : a;
        const Index length_a = rows_[a].length();
        const Index length_b = rows_[b].length();
        Index i = random_.below(length_a + 1);
        Index j = random_.below(length_b + 1);
        if (a == b && i > j) std::swap(i, j);
        const Index kind = random_.below(10);
        if (kind == 0 && a != b) return {{a, i, length_a}, {b, j, length_b}}; // all that follows
        // A task, a task for a task, or runs of at most three.
        const Index first = kind < 7 ? 1 : random_.below(4);
        const Index second = kind < 4 ? 0 : kind < 7 ? 1 : random_.below(4);
        return {{a, i, std::min(length_a, i + first)}, {b, j, std::min(length_b, j + second)}};
    }

    std::int64_t size_of(Run run) const {
        std::int64_t size = 0;
        for (Index place = run.begin; place < run.end; ++place) {
            size += costs_.size[rows_[run.cpu].tasks[place]];
        }
        return size;
    }

    // Returns by how much it is worse that a CPU costs so much.
    double rise(Index cpu, Cost load) const {
        const Cost before = rows_[cpu].load;
        if (costs_.is_total) return static_cast<double>(load - before);
        const double growth = to_power(static_cast<double>(load) / scale_) -
                              to_power(static_cast<double>(before) / scale_);
        return growth * scale_ / power;
    }

    // Tries one move.
    void step(double temperature) {
        const auto [a, b] = propose();
        double worse = 0;
        if (a.cpu == b.cpu) {
            if (a.end > b.begin || (a.end == b.begin && b.begin == b.end)) return;
            Way way = along(a.cpu, up_to(rows_[a.cpu], a.begin), b);
            way = along(a.cpu, way, {a.cpu, a.end, b.begin});
            worse = rise(a.cpu, load_after(a.cpu, along(a.cpu, way, a), b.end));
        } else {
            const std::int64_t size = size_of(a) - size_of(b);
            if (rows_[a.cpu].filled - size > costs_.room) return;
            if (rows_[b.cpu].filled + size > costs_.room) return;
            const Way way_a = along(a.cpu, up_to(rows_[a.cpu], a.begin), b);
            const Way way_b = along(b.cpu, up_to(rows_[b.cpu], b.begin), a);
            worse = rise(a.cpu, load_after(a.cpu, way_a, a.end)) +
                    rise(b.cpu, load_after(b.cpu, way_b, b.end));
        }
        if (!random_.accepts(worse, temperature)) return;
        exchange(a, b);
        if (const Cost now = value(rows_); now < least_) {
            least_ = now;
            best_ = rows_;
        }
    }

    void exchange(Run a, Run b) {
        const auto tasks_of = [this](Run run) { return rows_[run.cpu].tasks.begin() + run.begin; };
        run_a_.assign(tasks_of(a), tasks_of(a) + (a.end - a.begin));
        run_b_.assign(tasks_of(b), tasks_of(b) + (b.end - b.begin));
        put(b, run_a_); // the later one first, so that the other one stays where it is
        put(a, run_b_);
        measure(a.cpu);
        if (a.cpu != b.cpu) measure(b.cpu);
    }

    // Puts tasks in the place of a run.
    void put(Run run, std::span<const Task> tasks) {
        std::vector<Task>& row = rows_[run.cpu].tasks;
        const auto at = row.erase(row.begin() + run.begin, row.begin() + run.end);
        row.insert(at, tasks.begin(), tasks.end());
    }

    std::vector<Row> rows_;
    std::vector<Row> best_;
    Cost least_ = 0;   // the best objective so far
    double scale_ = 1; // of what CPUs cost
    std::vector<Task> run_a_, run_b_;
};

// Takes one task elsewhere, where tasks wait for their releases or for each other.
class Shifts final : public Search {
  public:
    Shifts(const Costs& costs, std::uint64_t seed)
        : Search(costs, seed), filled_(costs.cpus), end_(costs.tasks), last_(costs.cpus),
          load_(costs.cpus) {
        line_.cpu.resize(costs.tasks);
        line_.load.resize(costs.cpus);
    }

    // Appends the task and CPU that end first, one after the other, whatever the order.
    bool build(std::span<const std::int64_t>) override {
        end_.assign(costs_.tasks, not_yet);
        last_.assign(costs_.cpus, nobody);
        while (std::ssize(line_.order) < costs_.tasks) {
            if (!append()) return false;
        }
        run(line_.load);
        best_ = line_;
        return true;
    }

    void restart() override {
        line_ = best_;
        std::ranges::fill(filled_, 0);
        for (Index task = 0; task < costs_.tasks; ++task) {
            filled_[line_.cpu[task]] += costs_.size[task];
        }
    }

    void anneal(double temperature) override {
        // A move takes as long as there are tasks.
        for (Index move = 0; move <= moves / costs_.tasks; ++move) step(temperature);
    }

    Cost best() const override { return std::ranges::max(best_.load); }

    std::vector<Task> best_row(Index cpu) const override {
        std::vector<Task> row;
        for (const Task task : best_.order) {
            if (best_.cpu[task] == cpu) row.push_back(task);
        }
        return row;
    }

  private:
    // A schedule: all tasks in one order, and the CPU of each task.
    struct Line {
        std::vector<Task> order;
        std::vector<Index> cpu;
        std::vector<Cost> load; // when each CPU has finished
    };

    static constexpr Cost not_yet = -1;

    // Runs the tasks in their order as early as possible; notes when the CPUs have finished.
    void run(std::vector<Cost>& load) {
        std::ranges::fill(load, 0);
        std::ranges::fill(last_, nobody);
        for (const Task task : line_.order) {
            const Index cpu = line_.cpu[task];
            Cost ready = std::max(load[cpu], costs_.release[task]);
            for (const auto before : costs_.predecessors(task)) {
                ready = std::max(ready, end_[before]);
            }
            end_[task] = load[cpu] = ready + costs_.step(cpu, last_[cpu], task);
            last_[cpu] = task;
        }
        for (Index cpu = 0; cpu < costs_.cpus; ++cpu) {
            load[cpu] += costs_.step(cpu, last_[cpu], nobody);
        }
    }

    // Returns when a task may begin; nothing if it has run, or a predecessor has not.
    std::optional<Cost> ready(Task task) const {
        if (end_[task] != not_yet) return std::nullopt;
        Cost ready = costs_.release[task];
        for (const auto before : costs_.predecessors(task)) {
            if (end_[before] == not_yet) return std::nullopt;
            ready = std::max(ready, end_[before]);
        }
        return ready;
    }

    // Appends the task that can end first; returns whether any fits.
    bool append() {
        Cost least = std::numeric_limits<Cost>::max();
        Task chosen = nobody;
        Index where = 0;
        for (Task task = 0; task < costs_.tasks; ++task) {
            const std::optional<Cost> begins = ready(task);
            if (!begins) continue;
            for (Index cpu = 0; cpu < costs_.cpus; ++cpu) {
                if (filled_[cpu] + costs_.size[task] > costs_.room) continue;
                const Cost ends =
                    std::max(*begins, line_.load[cpu]) + costs_.step(cpu, last_[cpu], task);
                if (ends < least) {
                    least = ends;
                    chosen = task;
                    where = cpu;
                }
            }
        }
        if (chosen == nobody) return false;
        line_.order.push_back(chosen);
        line_.cpu[chosen] = where;
        end_[chosen] = line_.load[where] = least;
        last_[where] = chosen;
        filled_[where] += costs_.size[chosen];
        return true;
    }

    // Takes a task to a later or earlier place, as far as precedence lets it; returns where.
    Index shift(Index place, Index by) {
        const Index way = by > 0 ? 1 : -1;
        for (Index left = std::abs(by); left > 0; --left) {
            const Index there = place + way;
            if (there < 0 || there >= costs_.tasks) break;
            Task& early = line_.order[std::min(place, there)];
            Task& late = line_.order[std::max(place, there)];
            const auto predecessors = costs_.predecessors(late);
            if (std::ranges::find(predecessors, early) != predecessors.end()) break;
            std::swap(early, late);
            place = there;
        }
        return place;
    }

    double sum_of_powers(std::span<const Cost> load, double scale) const {
        double sum = 0;
        for (const Cost one : load) sum += to_power(static_cast<double>(one) / scale);
        return sum;
    }

    // Tries one move.
    void step(double temperature) {
        const Index place = random_.below(costs_.tasks);
        const Task task = line_.order[place];
        const Index here = line_.cpu[task];
        Task other = task; // whose CPU the task gets
        Index there = here;
        const Index kind = random_.below(3);
        if (kind == 0) {
            there = random_.below(costs_.cpus);
        } else if (kind == 1) {
            other = static_cast<Task>(random_.below(costs_.tasks));
            there = line_.cpu[other];
        }
        const std::int64_t size = costs_.size[task] - (kind == 1 ? costs_.size[other] : 0);
        const bool leaves = here != there;
        if (leaves && filled_[there] + size > costs_.room) return;
        if (leaves && filled_[here] - size > costs_.room) return;
        const Index span =
            random_.uniform() < 0.1 ? costs_.tasks : 1 + 2 * costs_.tasks / costs_.cpus;
        const Index now = shift(place, random_.below(2 * span + 1) - span);
        line_.cpu[other] = here;
        line_.cpu[task] = there;
        run(load_);
        const double scale = std::max(1.0, static_cast<double>(std::ranges::max(line_.load)));
        const double growth = sum_of_powers(load_, scale) - sum_of_powers(line_.load, scale);
        if (!random_.accepts(growth * scale / power, temperature)) {
            line_.cpu[other] = there;
            line_.cpu[task] = here;
            shift(now, place - now);
            return;
        }
        if (leaves) {
            filled_[here] -= size;
            filled_[there] += size;
        }
        line_.load = load_;
        if (std::ranges::max(load_) < best()) best_ = line_;
    }

    Line line_;
    Line best_;
    std::vector<std::int64_t> filled_;
    std::vector<Cost> end_;  // of each task
    std::vector<Task> last_; // of each CPU
    std::vector<Cost> load_; // after a move
};

} // namespace

// Returns a search that has built its first schedule; nothing if the tasks do not fit. Arrays must
// stay as long as the search. Python destroys what it gets.
YARDSTICK_EXPORT Search*
yardstick_create(std::int64_t tasks, std::int64_t cpus, const std::int32_t* way,
                 const std::int32_t* first, const std::int32_t* last, const std::int32_t* idle,
                 const std::int64_t* size, std::int64_t room, std::int64_t is_total,
                 std::int64_t is_timed, const std::int64_t* release, const std::int64_t* before,
                 const std::int64_t* begin, const std::int64_t* order, std::uint64_t seed) {
    const Costs costs = {tasks, cpus, way,           first,   last,   idle,
                         size,  room, is_total != 0, release, before, begin};
    std::unique_ptr<Search> search;
    if (is_timed)
        search = std::make_unique<Shifts>(costs, seed);
    else
        search = std::make_unique<Exchanges>(costs, seed);
    return search->build({order, order + tasks}) ? search.release() : nullptr;
}

YARDSTICK_EXPORT void yardstick_destroy(Search* search) { delete search; }

YARDSTICK_EXPORT void yardstick_restart(Search* search) { search->restart(); }

YARDSTICK_EXPORT void yardstick_anneal(Search* search, double temperature) {
    search->anneal(temperature);
}

YARDSTICK_EXPORT std::int64_t yardstick_best(const Search* search) { return search->best(); }

// Writes the tasks of a CPU in the best schedule, and returns how many these are.
YARDSTICK_EXPORT std::int64_t yardstick_best_row(const Search* search, std::int64_t cpu,
                                                 std::int32_t* tasks) {
    const std::vector<Task> row = search->best_row(cpu);
    std::ranges::copy(row, tasks);
    return std::ssize(row);
}
