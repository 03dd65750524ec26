#include "pool.hpp"

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

namespace gtgbm {

Pool::Pool(int n_threads) : n_threads_(n_threads), process_(static_cast<int64_t>(GTGBM_GETPID())) {
    if (n_threads < 1) throw std::invalid_argument("Pool: n_threads must be at least 1");
}

Pool::~Pool() {
    if (process_ != static_cast<int64_t>(GTGBM_GETPID())) {
        // The threads belong to the parent process; here are only copies of their handles, and of condition
        // variables that would wait for them for ever. Forgotten, not ended: the few bytes stay allocated.
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
        // The caller is worker 0. Where the system refuses more threads, we work with those it gave.
        try {
            for (int worker = 1; worker < n_threads_; ++worker)
                threads_.emplace_back(&Pool::loop, this, worker);
        } catch (const std::system_error&) {
            n_threads_ = static_cast<int>(threads_.size()) + 1;
        }
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
        running_ = static_cast<int>(threads_.size());
        ++generation_;
    }
    wake_.notify_all();
    drain(0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
    busy_ = false;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Pool::drain(int worker) {
    try {
        for (int64_t i = next_.fetch_add(1); i < n_tasks_; i = next_.fetch_add(1)) call_(context_, i, worker);
    } catch (...) {
        // Kept for the caller, who must not leave before the others have stopped using what it owns.
        next_.store(n_tasks_);
        std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) error_ = std::current_exception();
    }
}

void Pool::loop(int worker) {
    uint64_t seen = 0;
    for (;;) {
        {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
            if (stop_) return;
            seen = generation_;
        }
        drain(worker);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            --running_;
        }
        done_.notify_one();
    }
}

}  // namespace gtgbm
