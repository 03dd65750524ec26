#include "support/vectors.hpp"

#include <atomic>
#include <stdexcept>

namespace gtgbm {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};

Instructions best_instructions() {
#if GTGBM_X86_VECTORS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2")) return Instructions::kBaseline;
    const bool is_newest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512vnni");
    return is_newest ? Instructions::kAvx512 : Instructions::kAvx2;
#else
    return Instructions::kBaseline;
#endif
}

std::atomic<Instructions>& in_use() {
    static std::atomic<Instructions> chosen{best_instructions()};
    return chosen;
}

}  // namespace

Instructions instructions() {
    return in_use().load(std::memory_order_relaxed);
}

std::vector<std::string> available_instructions() {
    return {kNames, kNames + static_cast<int>(best_instructions()) + 1};
}

std::string use_instructions(const std::string& name) {
    const std::vector<std::string> available = available_instructions();
    for (size_t k = 0; k < available.size(); ++k)
        if (available[k] == name)
            return kNames[static_cast<int>(in_use().exchange(static_cast<Instructions>(k)))];
    throw std::invalid_argument("use_instructions: this processor has no instructions called " + name);
}

}  // namespace gtgbm
