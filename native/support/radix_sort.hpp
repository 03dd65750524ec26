// Radix sort of doubles, several times faster than a comparison sort.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace gtgbm {

// Sorts n values ascending, -0.0 before 0.0. There must be no NaN. `scratch` has room for 2 n numbers.
inline void radix_sort(double* values, int64_t n, uint64_t* scratch) {
    constexpr int kDigits = 8, kValues = 256;
    constexpr int64_t kFewValues = 256;  // for fewer values, a comparison sort is faster
    if (n < kFewValues) {
        std::sort(values, values + n);
        return;
    }
    constexpr uint64_t kSign = uint64_t{1} << 63;
    uint64_t* from = scratch;
    uint64_t* to = from + n;
    std::array<std::array<int64_t, kValues>, kDigits> counts{};
    for (int64_t i = 0; i < n; ++i) {
        uint64_t bits;
        std::memcpy(&bits, values + i, sizeof bits);
        // Invert negative numbers and set the top bit of the others: unsigned order is then that of the
        // numbers.
        bits = (bits & kSign) ? ~bits : bits | kSign;
        from[i] = bits;
        for (size_t digit = 0; digit < kDigits; ++digit) ++counts[digit][(bits >> (8 * digit)) & 0xff];
    }
    for (size_t digit = 0; digit < kDigits; ++digit) {
        auto& count = counts[digit];
        // Skip digits that are the same in all values, as many are for integers and float32 values.
        if (count[(from[0] >> (8 * digit)) & 0xff] == n) continue;
        int64_t before = 0;
        for (auto& c : count) {
            const int64_t here = c;
            c = before;
            before += here;
        }
        for (int64_t i = 0; i < n; ++i) to[count[(from[i] >> (8 * digit)) & 0xff]++] = from[i];
        std::swap(from, to);
    }
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = (from[i] & kSign) ? from[i] & ~kSign : ~from[i];
        std::memcpy(values + i, &bits, sizeof bits);
    }
}

}  // namespace gtgbm
