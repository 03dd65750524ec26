// The exponential function with the same bits on every machine with IEEE doubles; those of libraries differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace gtgbm {

// Returns exp(y) with an error of about one ulp, for |y| <= 690.
inline double exp_within(double y) {
    constexpr double kLog2E = 1.4426950408889634, kLn2High = 6.93147180369123816490e-01,
                     kLn2Low = 1.90821492927058770002e-10;
    constexpr double kRound =
        6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits
    const double shifted = y * kLog2E + kRound;
    const double k = shifted - kRound;
    const double r = (y - k * kLn2High) - k * kLn2Low;
    // Taylor series: |r| is at most ln(2) / 2, so the truncation error is below 1e-17.
    constexpr double kFactorials[] = {1.0 / 6227020800,
                                      1.0 / 479001600,
                                      1.0 / 39916800,
                                      1.0 / 3628800,
                                      1.0 / 362880,
                                      1.0 / 40320,
                                      1.0 / 5040,
                                      1.0 / 720,
                                      1.0 / 120,
                                      1.0 / 24,
                                      1.0 / 6,
                                      0.5,
                                      1.0,
                                      1.0};
    double p = kFactorials[0];
    for (int i = 1; i < 14; ++i) p = p * r + kFactorials[i];
    uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof(power));
    return p * power;
}

// Returns exp(-|x|), 0 below 1e-300.
inline double exp_minus_abs(double x) {
    const double y = std::max(-std::fabs(x), -690.0);
    const double power = exp_within(y);
    return x == x ? (y > -690.0 ? power : 0.0) : x;
}

// Returns log(1 + e) for e in [0, 1] with an error of about one ulp; NaN stays NaN.
inline double log_one_plus(double e) {
    constexpr double kLn2 = 0.69314718055994530942;
    // log f = 2 artanh((f - 1) / (f + 1)) with f = 1 + e, or f = (1 + e) / 2 where that is closer to 1.
    const bool is_halved = e > 0.41421356237309503;
    const double z = (is_halved ? e - 1.0 : e) / (is_halved ? e + 3.0 : e + 2.0), square = z * z;
    // Taylor series: |z| is below 0.1716, so the truncation error is below 1e-17.
    constexpr double kOdd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                               1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    double p = kOdd[0];
    for (int i = 1; i < 11; ++i) p = p * square + kOdd[i];
    return 2.0 * z * p + (is_halved ? kLn2 : 0.0);
}

// Returns exp(x), 0 below 1e-300, infinite above 1e300.
inline double exponential(double x) {
    const double power = exp_within(std::min(std::max(x, -690.0), 690.0));
    if (x <= -690.0) return 0.0;
    if (x >= 690.0) return HUGE_VAL;
    return x == x ? power : x;
}

}  // namespace gtgbm
