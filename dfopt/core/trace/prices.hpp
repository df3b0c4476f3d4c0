// The prices of conditions, as the search for bounds makes them fit.

#pragma once

#include "../base.hpp"

namespace dfopt::prices {

// A condition that an entry in one of the slots from `first` to just before `last` meets.
struct Slots {
    std::int64_t first, last;
};

// Lowers the price of each condition to what those before it have left in its slots. Then they
// reward no entry by more than it costs, which is the room of a slot at first.
void fit(std::span<const Slots> conditions, std::span<Cost> room, std::span<Cost> prices);

} // namespace dfopt::prices
