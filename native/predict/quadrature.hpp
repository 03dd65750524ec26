// Gauss's quadrature, which gives the integrals of polynomials exactly.
#pragma once

#include <cmath>
#include <vector>

namespace gtgbm {

// Points and weights of Gauss's quadrature on [0, 1]: roots of Legendre's polynomials, by Newton's method.
struct Quadrature {
    explicit Quadrature(int n) : point(static_cast<size_t>(n)), weight(point.size()) {
        constexpr double pi = 3.14159265358979323846;
        for (int i = 0; i < n; ++i) {
            double x = std::cos(pi * (i + 0.75) / (n + 0.5)), slope = 1.0, step = 1.0;
            for (int round = 0; round < 100 && std::abs(step) > 1e-16; ++round) {
                double value = x, before = 1.0;
                for (int k = 2; k <= n; ++k) {
                    const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k;
                    before = value;
                    value = next;
                }
                slope = n * (x * value - before) / (x * x - 1.0);
                step = value / slope;
                x -= step;
            }
            point[i] = 0.5 * (1.0 + x);
            weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }
    std::vector<double> point, weight;
};

}  // namespace gtgbm
