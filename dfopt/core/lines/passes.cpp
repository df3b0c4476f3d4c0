// Passes over the lines of a memory, whose time tells what its caches cost; and a kernel.

#include "../calls.hpp"

namespace dfopt::lines {

namespace {

// The words of a line.
constexpr std::int64_t words_of_line = 8;

// The rows and columns of a block of a matrix.
constexpr std::int64_t block = 32;

// Follows a chain of lines, each of which says where the next one begins. Returns the end.
std::int64_t chase(Integers chain, std::int64_t start, std::int64_t lines) {
    for (; lines > 0; --lines) start = chain[start];
    return start;
}

// Reads the first word of each line, in the order of their addresses.
std::int64_t read_in_order(Integers words, std::int64_t lines) {
    std::uint64_t total = 0;
    for (std::int64_t line = 0; line < lines; ++line) {
        total += static_cast<std::uint64_t>(words[line * words_of_line]);
    }
    return static_cast<std::int64_t>(total);
}

// Changes the word `word` of lines one after another, in the order of their addresses.
void change(std::span<std::int64_t> words, std::int64_t first, std::int64_t lines,
            std::int64_t word) {
    for (std::int64_t line = first; line < first + lines; ++line) {
        ++words[line * words_of_line + word];
    }
}

// Follows a chain of lines and changes each of them. Returns the end.
std::int64_t chase_and_change(std::span<std::int64_t> chain, std::int64_t start,
                              std::int64_t lines) {
    for (; lines > 0; --lines) {
        ++chain[start + 1];
        start = chain[start];
    }
    return start;
}

// Adds the product of two blocks to one of a third square matrix, whose rows follow each other. All
// steps from 0 to the cube of the number of blocks in a row are one product of matrices.
void multiply_block(std::span<const double> left, std::span<const double> right,
                    std::span<double> product, std::int64_t size, std::int64_t step) {
    const std::int64_t blocks = size / block;
    const std::int64_t middle = step % blocks * block;
    const std::int64_t column = step / blocks % blocks * block;
    const std::int64_t row = step / (blocks * blocks) * block;
    for (std::int64_t i = row; i < row + block; ++i) {
        double* sums = product.data() + i * size;
        for (std::int64_t k = middle; k < middle + block; ++k) {
            const double factor = left[i * size + k];
            const double* factors = right.data() + k * size;
            for (std::int64_t j = column; j < column + block; ++j) sums[j] += factor * factors[j];
        }
    }
}

} // namespace

DFOPT_FUNCTION(chase, &chase)
DFOPT_FUNCTION(read_in_order, &read_in_order)
DFOPT_FUNCTION(change, &change)
DFOPT_FUNCTION(chase_and_change, &chase_and_change)
DFOPT_FUNCTION(multiply_block, &multiply_block)

} // namespace dfopt::lines
