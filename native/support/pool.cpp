#include "support/pool.hpp"

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#if defined(_WIN32)
#include <process.h>
#define GTGBM_GETPID _getpid
#else
#include <unistd.h>
#define GTGBM_GETPID getpid
#endif

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace gtgbm {
namespace {

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

// The memory that a thread needs to throw is allocated at its first use; if that fails, the process ends.
void get_ready_to_throw() {
    static_cast<void>(std::uncaught_exceptions());
}

}  // namespace

Pool::Pool(int n_threads) : n_threads_(n_threads), process_(static_cast<int64_t>(GTGBM_GETPID())) {
    if (n_threads < 1) throw std::invalid_argument("Pool: n_threads must be at least 1");
    get_ready_to_throw();
}

Pool::~Pool() {
    if (process_ != static_cast<int64_t>(GTGBM_GETPID())) {
        // After a fork, the threads belong to the parent process, and the copied condition variables would
        // wait for them for ever. The handles are leaked instead of joined: a few bytes stay allocated.
        new std::vector<std::thread>(std::move(threads_));
        new (&wake_) std::condition_variable;
        new (&done_) std::condition_variable;
        return;
    }
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
}

bool Pool::usable() {
    if (process_ != static_cast<int64_t>(GTGBM_GETPID())) return false;
    if (threads_.empty()) {
        // The caller is worker 0. If the system refuses more threads, continue with those that started.
        try {
            for (int worker = 1; worker < n_threads_; ++worker)
                threads_.emplace_back(&Pool::loop, this, worker);
        } catch (const std::system_error&) {
            n_threads_ = static_cast<int>(threads_.size()) + 1;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return n_started_ == threads_.size(); });
    }
    return !threads_.empty();
}

void Pool::dispatch(int64_t n_tasks, void* context, Call call) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (busy_) throw std::logic_error("Pool: one pool serves one caller at a time");
        busy_ = true;
        call_ = call;
        context_ = context;
        n_tasks_ = n_tasks;
        next_.store(0, std::memory_order_relaxed);
        running_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
        generation_.fetch_add(1);
    }
    wake_.notify_all();
    drain(0);
    for (int look = 0; look < kSpins && running_.load() != 0; ++look) pause();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_.load() == 0; });
    busy_ = false;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Pool::drain(int worker) {
    try {
        for (int64_t i = next_.fetch_add(1); i < n_tasks_; i = next_.fetch_add(1)) call_(context_, i, worker);
    } catch (...) {
        // Rethrown later: the caller must not return while other threads still use its data.
        next_.store(n_tasks_);
        std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) error_ = std::current_exception();
    }
}

void Pool::loop(int worker) {
    get_ready_to_throw();  // before the caller allocates large arrays
    {
        std::lock_guard<std::mutex> lock(mutex_);
        ++n_started_;
        done_.notify_one();
    }
    uint64_t seen = 0;
    for (;;) {
        for (int look = 0; look < kSpins && generation_.load() == seen; ++look) pause();
        if (generation_.load() == seen) {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return stop_ || generation_.load() != seen; });
            if (stop_) return;
        }
        ++seen;  // a caller waits for all threads, so no call can be skipped
        drain(worker);
        if (running_.fetch_sub(1) == 1) {
            // With the lock, so that a caller that is about to sleep does not miss the notification.
            std::lock_guard<std::mutex> lock(mutex_);
            done_.notify_one();
        }
    }
}

}  // namespace gtgbm
