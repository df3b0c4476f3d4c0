#include "priced_options.hpp"

#include <utility>

namespace dfopt::pricing {

bool PricedOptions::advance() {
    std::int64_t steps = steps_of_call;
    for (; next_ < std::ssize(options_); ++next_) {
        if (!tasks.fragments[next_].is_changed) continue;
        if (!search_) search_.emplace(tasks, next_);
        while (const Index taken = search_->go_on()) {
            steps -= taken;
            if (steps < 0) return false;
        }
        options_[next_] = std::move(search_->options);
        search_.reset();
    }
    return true;
}

DFOPT_OBJECT(PricingTables, Instance)
DFOPT_OBJECT(PricedOptions, PricedOptions)
DFOPT_FUNCTION(PricedOptions_take_over, &PricedOptions::take_over)
DFOPT_FUNCTION(PricedOptions_advance, &PricedOptions::advance)

} // namespace dfopt::pricing
