// A second checker for proofs over contents, that is, for the penalties f and g. It was written
// from docs/reference/proofs.md alone, and shares nothing with dfopt.
//
//   g++ -std=c++20 -O2 -o check_proof check_proof.cpp
//   ./check_proof instance.json result.json
//
// Exit code 0: the proof is right; 1: it is not; 2: this program does not cover it (sizes of tasks,
// counts other than entries and visits of fragments, very large numbers or tables).

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>
using namespace std;
using Int = long long;
using Wide = __int128;

[[noreturn]] void end(int code, const string& why) {
  cout << why << "\n";
  exit(code);
}

// ---- JSON, with numbers kept as text ----

struct Json {
  char kind = '0';  // '0' for null, 'w' for other words and numbers, '"', '[' or '{'
  string text;
  vector<Json> items;
  map<string, Json> keys;

  bool has(const string& key) const { return keys.count(key) && keys.at(key).kind != '0'; }
  string word(const string& key, const string& other = "") const { return has(key) ? keys.at(key).text : other; }
  const vector<Json>& list(const string& key) const {
    static const vector<Json> none;
    return has(key) ? keys.at(key).items : none;
  }
  Int integer() const {
    char* rest = nullptr;
    Int value = strtoll(text.c_str(), &rest, 10);
    if (kind != 'w' || *rest || value > 1LL << 62 || value < -(1LL << 62)) end(1, "'" + text + "' is no integer from -2^62 to 2^62");
    return value;
  }
  Int integer(const string& key, Int other) const { return has(key) ? keys.at(key).integer() : other; }
};

Json parse(istream& in) {
  Json value;
  char c = 0;
  if (!(in >> c)) end(1, "a file is cut off");
  value.kind = c;
  if (c == '{' || c == '[') {
    while (in >> c && c != '}' && c != ']') {
      if (c != ',') in.putback(c);
      Json first = parse(in);
      if (value.kind == '{' && in >> c && !value.keys.emplace(first.text, parse(in)).second) end(1, "a key is there twice");
      if (value.kind == '[') value.items.push_back(first);
    }
  } else if (c == '"') {
    while (in.get(c) && c != '"') {  // escapes stay as they are: they are alike in both files
      value.text += c;
      if (c == '\\') value.text += char(in.get());
    }
  } else {
    for (; in && !strchr(",]} \n\r\t", c); c = char(in.get())) value.text += c;
    in.putback(c);
    value.kind = value.text == "null" ? '0' : 'w';
  }
  return value;
}

// ---- The instance: what a task costs in an order ----

struct Task {
  string df, leaves;
  Int lines, exec, number;
  Int entry;   // what the first task of a block pays for its lines
  Int always;  // what each task costs, wherever it stands
  Int exit;    // what the last task of a block pays in addition
  Int spared;  // what the last task of an order is spared of `always`
};

struct Instance {
  Int cpus, room, writeBack, number = 0, unit = 0;  // unit: all costs are multiples of it
  bool total, cold, finalWriteBack;
  vector<Task> tasks;
  map<string, set<size_t>> fragments;
  vector<Json> initial;

  explicit Instance(const Json& given) : initial(given.list("initial")) {
    const Json& penalty = given.keys.at("penalty");
    bool isF = penalty.word("kind") == "f", timed = given.word("objective") == "makespan";
    if (!isF && penalty.word("kind") != "g") end(2, "this is for the penalties f and g");
    writeBack = isF ? penalty.integer("write_back", 0) : 0;
    total = given.word("objective") == "total-penalty";
    cold = given.word("cold_start") == "true";
    finalWriteBack = given.word("final_write_back") == "true";
    bool written = false;
    for (const Json& one : given.list("tasks")) {
      Task task{one.word("df"), one.word("leaves", "clean"), one.integer("lines", 0), one.integer("exec", 0),
                one.integer("count", 1), 0, 0, 0, 0};
      if (one.integer("size", 1) != 1) end(2, "this is for tasks without sizes");
      Int lost = task.leaves == "invalidated" ? writeBack : 0;
      task.entry = isF ? penalty.integer("read_line", 0) * task.lines : penalty.integer("fill", 0) + penalty.integer("write_back", 0);
      task.always = lost + (timed ? task.exec : 0);
      task.exit = task.leaves == "dirty" ? writeBack : 0;
      task.spared = finalWriteBack ? 0 : lost;
      if (task.entry < 0 || Wide(task.lines) * penalty.integer("read_line", 0) > Wide(1) << 50) end(2, "the costs are too large");
      unit = gcd(gcd(unit, task.entry), timed ? task.exec : 0);
      written = written || task.leaves != "clean";
      fragments[task.df].insert(tasks.size());
      number += task.number;
      tasks.push_back(task);
    }
    for (const Json& state : initial) written = written || state.word("leaves", "clean") != "clean";
    unit = max(Int(1), written ? gcd(unit, writeBack) : unit);
    cpus = given.integer("cpus", 1);
    initial.resize(size_t(cpus));
    string capacity = given.word("capacity", "balanced");
    room = capacity == "balanced" ? (number + cpus - 1) / cpus : capacity == "unlimited" ? number : min(number, stoll(capacity));
  }
  Int count(const set<size_t>& members) const {
    Int sum = 0;
    for (size_t task : members) sum += tasks[task].number;
    return sum;
  }
};

// ---- What an order is worth at most ----

struct Prices {
  vector<Int> weights, charges;  // of each entry of the tasks
  map<string, Int> visits;
  Int scale = 1;
};

const Int NEVER = -(1LL << 61);
using Table = vector<Int>;  // for a number of tasks and a cost, the most that they are worth

// An order is a row of blocks, each of tasks of one fragment. In a block one task enters and another
// exits, or a single one does both. The last task of all is spared its write-back.
enum Role { ENTERS = 1, EXITS = 2, ENDS = 4, ENTERS_AND_ENDS = 8 };
enum Place { MIDDLE = 0, FIRST = 1, LAST = 2, ALONE = 4 };  // FIRST | LAST: two blocks of a fragment

struct Program {
  const Instance& instance;
  const Prices& prices;
  Int columns;  // the costs up to the threshold, in units; 1 where costs are taken off the worth

  Table table(Int origin = NEVER) const {
    Table empty(size_t((instance.room + 1) * columns), NEVER);
    empty[0] = origin;
    return empty;
  }
  // Let `to` have what comes of `from` by some tasks more.
  void add(Table& to, const Table& from, Int tasks, Int cost, Int worth) const {
    if (instance.total) worth -= prices.scale * cost;
    Int right = instance.total ? 0 : cost / instance.unit;
    for (Int row = tasks; row <= instance.room; row++)
      for (Int column = right; column < columns; column++) {
        Int before = from[size_t((row - tasks) * columns + column - right)];
        Int& best = to[size_t(row * columns + column)];
        if (before > NEVER) best = max(best, before + worth);
      }
  }
  void addEach(Table& to, const Table& from, const Table& more) const {
    for (Int cell = 0; cell < Int(more.size()); cell++)
      if (more[size_t(cell)] > NEVER) {
        Int cost = instance.total ? 0 : cell % columns * instance.unit;
        add(to, from, cell / columns, cost, more[size_t(cell)]);
      }
  }
  void take(Table& to, const Table& from, size_t which, Int many, int roles) const {
    const Task& task = instance.tasks[which];
    Int cost = many * task.always, worth = many * prices.weights[which];
    if (roles & EXITS) cost += task.exit;
    if (roles & (ENDS | ENTERS_AND_ENDS)) cost -= task.spared;
    if (roles & (ENTERS | ENTERS_AND_ENDS)) cost += task.entry, worth -= prices.charges[which];
    add(to, from, many, cost, worth);
  }
  map<int, Table> blocks(const string& df) const {
    map<int, Table> filled{{0, table(0)}}, found;  // by the roles that are taken; by place
    int last = instance.finalWriteBack ? EXITS : ENDS;  // with it nothing is spared
    for (int place : {0, 1, 2, 3, 4}) found.emplace(place, table());
    for (size_t which : instance.fragments.at(df)) {
      take(found[MIDDLE], table(0), which, 1, ENTERS | EXITS);
      take(found[LAST], table(0), which, 1, ENTERS | last);
      map<int, Table> after;
      for (const auto& [before, from] : filled)
        for (int roles = 0; roles < 16; roles++) {
          int all = before | roles, least = __builtin_popcount(unsigned(roles));
          if (before & roles || (all & ENTERS_AND_ENDS && all & (ENTERS | ENDS))) continue;
          Table& to = after.emplace(all, table()).first->second;
          for (Int many = least; many <= min(instance.tasks[which].number, instance.room); many++) take(to, from, which, many, roles);
        }
      filled = after;
    }
    auto put = [&](int place, int roles) {
      if (filled.count(roles)) addEach(found[place], table(0), filled[roles]);
    };
    put(MIDDLE, ENTERS | EXITS), put(FIRST, EXITS), put(LAST, ENTERS | last), put(ALONE, last);
    if (!instance.finalWriteBack) put(FIRST | LAST, EXITS | ENTERS | ENDS), put(FIRST | LAST, EXITS | ENTERS_AND_ENDS);
    if (prices.visits.count(df))
      for (auto& [place, own] : found)
        for (Int& worth : own) worth += worth > NEVER ? prices.visits.at(df) : 0;
    return found;
  }
  Int largest(const map<string, map<int, Table>>& fragments, const Json& start) const {
    bool isState = start.kind == '{', anyIsFree = start.kind == '"' || (!isState && !instance.cold);
    string leaves = start.word("leaves", "clean");
    Int home = leaves == "invalidated" ? instance.writeBack : 0, away = leaves == "clean" ? 0 : instance.writeBack;
    map<int, Table> orders{{0, table(0)}};  // by which ends are taken
    Table ended = table(0);                 // a CPU may hold nothing
    for (const auto& [df, own] : fragments) {
      map<int, Table> after = orders;
      for (const auto& [place, block] : own) {
        if (place != MIDDLE && place != LAST && !anyIsFree && !(isState && start.word("df") == df)) continue;
        if (place == ALONE) add(ended, block, 0, home, 0);
        for (const auto& [before, from] : orders)
          if (place != ALONE && !(before & place)) addEach(after.emplace(before | place, table()).first->second, from, block);
      }
      orders = after;
    }
    for (const auto& [places, order] : orders) add(ended, order, 0, places & FIRST ? home : away, 0);
    return *max_element(ended.begin(), ended.end());
  }
};

// ---- The tree ----

struct Count {
  bool isEntries;
  set<size_t> tasks;
  Int least, most;  // in all schedules that belong to the present case
};

struct Proof {
  const Instance& instance;
  Int threshold;
  vector<set<size_t>> classes{};
  vector<Count> counts{};
  size_t next = 0;

  template <class T>
  T& at(vector<T>& all, const Json& number) const {
    Int place = number.integer();
    if (place < 0 || place >= Int(all.size())) end(1, "there is no class or count " + number.text);
    return all[size_t(place)];
  }
  void read(const Json& given) {
    for (const Json& row : given.list("classes")) {
      set<size_t> own;
      for (size_t which = 0; which < instance.tasks.size(); which++) {
        const Task& task = instance.tasks[which];
        if (row.word("df", task.df) == task.df && row.word("leaves", task.leaves) == task.leaves &&
            row.integer("lines", task.lines) == task.lines && row.integer("exec", task.exec) == task.exec) own.insert(which);
      }
      for (const auto& [key, _] : row.keys)
        if (!set<string>{"df", "leaves", "lines", "exec"}.count(key)) end(2, "classes by " + key);
      if (own.empty()) end(1, "a class holds for no task");
      classes.push_back(own);
    }
    for (const Json& row : given.list("counts")) {
      Count count{row.word("kind") == "entries", {}, 0, 0};
      for (const Json& number : row.list("classes")) count.tasks.merge(set<size_t>(at(classes, number)));
      Int tasks = instance.count(count.tasks);
      count.most = count.isEntries ? tasks : min(tasks, instance.cpus);
      if (!count.isEntries) {
        bool isFragment = !count.tasks.empty() && instance.fragments.at(instance.tasks[*count.tasks.begin()].df) == count.tasks;
        if (row.word("kind") != "visits" || row.integer("tasks", 1) != 1 || !isFragment) end(2, "counts of other kinds");
        count.least = (tasks + instance.room - 1) / instance.room;
      }
      counts.push_back(count);
    }
    walk(given.list("nodes"));
    if (next < given.list("nodes").size()) end(1, "the tree is complete before its last node");
  }
  void walk(const vector<Json>& nodes) {  // one case: all nodes of a subtree
    if (next == nodes.size()) end(1, "the tree ends before all cases have weights");
    const Json& node = nodes[next++];
    if (!node.has("count")) {
      for (const Count& count : counts)
        if (count.least > count.most) return;  // no schedule belongs here
      return checkLeaf(node, "nodes[" + to_string(next - 1) + "]: ");
    }
    Count& count = at(counts, node.keys.at("count"));
    Int limit = node.integer("at_most", 0), least = count.least, most = count.most;
    count.most = min(most, limit);
    walk(nodes);
    count.least = max(least, limit + 1), count.most = most;
    walk(nodes);
    count.least = least;
  }
  void checkLeaf(const Json& leaf, const string& place) {
    size_t size = instance.tasks.size();
    Prices prices{Table(size), Table(size), {}, leaf.integer("scale", 1)};
    if (prices.scale < 1 || (prices.scale > 1 && !instance.total)) end(1, place + "the scale is wrong");
    // Under total-penalty the CPUs may pay the largest total below the bound.
    Wide worth = instance.total ? -Wide(prices.scale) * (threshold / instance.unit * instance.unit) : 0, reach = 0;
    for (const Json& pair : leaf.list("weights"))
      for (size_t task : at(classes, pair.items.at(0))) {
        Int weight = pair.items.at(1).integer();
        prices.weights[task] += weight;
        worth += Wide(weight) * instance.tasks[task].number;
        reach += Wide(abs(weight)) * instance.tasks[task].number;
      }
    for (const Json& pair : leaf.list("prices")) {
      const Count& count = at(counts, pair.items.at(0));
      Int price = pair.items.at(1).integer();
      worth += Wide(price) * (price > 0 ? count.least : count.most);
      reach += Wide(abs(price)) * instance.number;
      for (size_t task : count.tasks) prices.charges[task] -= count.isEntries ? price : 0;
      if (!count.isEntries) prices.visits[instance.tasks[*count.tasks.begin()].df] += price;
    }
    for (const Task& task : instance.tasks) reach += Wide(prices.scale) * task.number * (task.entry + task.always + task.exit);
    Int columns = instance.total ? 1 : threshold / instance.unit + 1;
    if (reach > Wide(1) << 58 || Wide(columns) * (instance.room + 1) > 4'000'000) end(2, "the numbers are too large");
    Program program{instance, prices, columns};
    map<string, map<int, Table>> fragments;
    for (const auto& [df, _] : instance.fragments) fragments[df] = program.blocks(df);
    map<string, Int> known;  // what a CPU holds at most, by how it starts
    Wide held = 0, claimed = 0;
    const vector<Json>& claims = leaf.list("bin_weights");
    if (claims.size() > 1 && Int(claims.size()) != instance.cpus) end(1, place + "there must be a bin weight for each CPU");
    for (size_t cpu = 0; cpu < size_t(instance.cpus); cpu++) {
      const Json& start = instance.initial[cpu];
      string key = start.kind + start.word("df") + '\n' + start.word("leaves");
      if (!known.count(key)) known[key] = program.largest(fragments, start);
      Int claim = claims.empty() ? known[key] : claims[claims.size() > 1 ? cpu : 0].integer();
      if (known[key] > claim) end(1, place + "a CPU can hold more than its bin weight, " + to_string(known[key]));
      held += known[key], claimed += claim;
    }
    if (worth <= claimed) end(1, place + "all tasks are worth no more than the CPUs can hold");
  }
};

int main(int count, char** files) {
  if (count != 3) end(2, "usage: check_proof INSTANCE RESULT");
  ifstream first(files[1]), second(files[2]);
  Json given = parse(first), result = parse(second);
  if (!result.has("certificate") || !result.has("lower_bound")) end(2, "there is no proof of a bound");
  const Json& proof = result.keys.at("certificate");
  Int bound = result.integer("lower_bound", 0);
  if (proof.word("kind") != "proof" || proof.word("over") != "contents") end(2, "this is for proofs over contents");
  if (bound < 1 || proof.integer("threshold", bound - 1) != bound - 1) end(1, "the threshold must be one less than the bound");
  Instance instance(given);
  Proof{instance, bound - 1}.read(proof);
  end(0, "proven: no schedule has an objective below " + to_string(bound));
}
