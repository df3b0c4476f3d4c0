// The options of all fragments at some prices, for all CPUs.

#pragma once

#include "fragment_options.hpp"

#include <optional>

namespace dfopt::pricing {

class PricedOptions {
  public:
    // Options of fragments that have not changed are taken over from `known`, at the same prices.
    PricedOptions(PricedTasks tasks, const PricedOptions* known);
    PricedOptions(const PricedOptions&) = delete; // the search refers to the tasks
    PricedOptions& operator=(const PricedOptions&) = delete;

    // Goes on for some hundredths of a second; returns whether all options are found.
    bool advance();

    // Returns the options of each fragment.
    std::span<std::vector<Option>> options() { return options_; }

    const PricedTasks tasks;

  private:
    std::vector<std::vector<Option>> options_;
    Index next_ = 0; // the fragment whose options are being found
    std::optional<OptionSearch> search_;
};

} // namespace dfopt::pricing
