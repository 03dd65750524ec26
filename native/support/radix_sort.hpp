// Sorts doubles by their bits, several times faster than comparing them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace gtgbm {

// Ascending, -0.0 before 0.0; no NaN among the values. `scratch` has room for 2 n numbers.
inline void radix_sort(double* values, int64_t n, uint64_t* scratch) {
    constexpr int kDigits = 8, kValues = 256;
    constexpr int64_t kFewValues = 256;  // counting digits costs more than comparing so few
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
        // Negative numbers in reverse, positive ones above them: the order of the bits is that of the
        // numbers.
        bits = (bits & kSign) ? ~bits : bits | kSign;
        from[i] = bits;
        for (size_t digit = 0; digit < kDigits; ++digit) ++counts[digit][(bits >> (8 * digit)) & 0xff];
    }
    for (size_t digit = 0; digit < kDigits; ++digit) {
        auto& count = counts[digit];
        // Integers and float32 values leave many digits the same everywhere.
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
