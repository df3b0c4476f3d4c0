#include "prices.hpp"

#include <algorithm>

namespace dfopt::prices {

void fit(std::span<const Slots> conditions, std::span<Cost> room, std::span<Cost> prices) {
    for (std::size_t number = 0; number < conditions.size(); ++number) {
        const auto [first, last] = conditions[number];
        Cost& price = prices[number];
        const std::span<Cost> own = room.subspan(first, last - first);
        for (const Cost left : own) price = std::min(price, left);
        for (Cost& left : own) left -= price;
    }
}

} // namespace dfopt::prices
