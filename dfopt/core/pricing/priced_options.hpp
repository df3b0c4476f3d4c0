// The options of all fragments at some prices, for all CPUs.

#pragma once

#include "fragment_options.hpp"

#include <optional>

namespace dfopt::pricing {

class PricedOptions {
  public:
    // The prices are as in PricedTasks, and stay where they are.
    PricedOptions(const Instance& instance, Value cost, Rows<ClassPrice> classes,
                  Rows<TokenPrice> tokens, Rows<FragmentPrice> fragments, Rows<Bonus> bonuses)
        : tasks(instance, cost, classes, tokens, fragments, bonuses), options_(fragments.size()) {}
    PricedOptions(const PricedOptions&) = delete; // the search refers to the tasks
    PricedOptions& operator=(const PricedOptions&) = delete;

    static bool fit(const Instance& instance, Value, Rows<ClassPrice> classes,
                    Rows<TokenPrice> tokens, Rows<FragmentPrice> fragments, Rows<Bonus>) {
        return classes.size() == instance.classes.size() &&
               tokens.size() == instance.entries.size() &&
               fragments.size() == instance.fragments.size();
    }

    // Takes over the options of others at the same prices; only fragments that have changed have
    // other ones.
    void take_over(const PricedOptions& known) { options_ = known.options_; }

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
