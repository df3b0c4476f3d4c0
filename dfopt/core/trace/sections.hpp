// Takes sections out of a schedule for the beam search, from early to late, and puts them back.

#pragma once

#include "beam_search.hpp"

#include <optional>
#include <vector>

namespace dfopt::beam {

class Sections {
  public:
    // A dispatch is ready in the recording from the time in `ready` on. If the dispatches give way,
    // they start as late as they may in the given order, which leaves the most room to sections
    // before them. Costs stay what they are, but waits do not. What the trace refers to must live
    // as long as the sections.
    Sections(const TraceRows& trace, Rows<Time> ready, bool gives_way);
    Sections(const Sections&) = delete; // the search refers to the section
    Sections& operator=(const Sections&) = delete;

    // Returns where sections may end: about `distance` apart, at first nearer by `first`, where
    // CPUs have time to spare. A section has to end in time for what follows it. Where that starts
    // at once on all CPUs, nothing but what the section was before would fit.
    Integers cuts(Index first, Index distance);

    // Begins a search of the dispatches at `begin` … `end` - 1 in the order of starts. What this
    // leaves out before `begin` is never taken again. Each dispatch may wait for a time, unless it
    // does already.
    void take(Index begin, Index end, const Limits& limits, Time wait, const Settings& settings);

    // Of the section that was taken last: its search, its best schedule within the limits, and how
    // that one takes the place of the guide.
    BeamSearch& search() { return *search_; }
    const std::optional<Found>& find() { return found_ = search_->best(); }
    void put_back();

    // Where all dispatches run.
    Rows<Placement> placements() const { return placements_; }

  private:
    struct OnCpu {
        std::vector<Index> positions; // of its dispatches in the order of starts, at first
        Index ahead = 0;              // the first of these that lies behind the section
        Index head = none;            // its last dispatch before the section
        std::vector<Fixed> fixed;     // its blocks and cuts; elements are rows of TraceRows::fixed
    };

    Time start(Index row) const { return placements_[row].start; }
    Time end(Index row) const { return start(row) + trace_.dispatches[row].length; }
    bool starts_before(Index one, Index other) const;
    void give_way();
    std::vector<Time> spare_time() const;
    Element element(Index row) const;
    void take_dispatches(Index begin, Index end, Time wait);
    void limit(Index row, Element& own) const;
    void tighten();
    void number_by_low();
    void take_surroundings();
    Index add_outside(Element element);
    void number_fragments();

    const TraceRows trace_;
    const Rows<Time> ready_;
    const Followers followers_;
    std::vector<OnCpu> cpus_;
    std::vector<double> weights_;       // the mean entry cost of each fragment
    std::vector<Placement> placements_; // of each dispatch
    std::vector<Index> order_;          // the dispatches in the order of their starts
    std::vector<Index> local_;   // the element of each dispatch inside the section, or `none`
    std::vector<Index> numbers_; // of fragments in the section
    std::vector<Index> cuts_;

    Index begin_ = 0;           // where the section begins in `order_`
    Time origin_ = 0;           // and in time
    std::vector<Index> inside_; // the row of each of its dispatches
    Section section_;
    std::optional<BeamSearch> search_;
    std::optional<Found> found_;
};

} // namespace dfopt::beam
