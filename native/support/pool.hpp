// A small thread pool; its threads spin for a moment after a call, then sleep until the next one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace gtgbm {

// A fit has one pool. Threads start at the first call that is large enough to use them. After a fork, the
// child process has no threads: the pool detects this by the process id and works serially.
class Pool {
  public:
    explicit Pool(int n_threads);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int size() const { return n_threads_; }

    // Calls task(index, worker) for index = 0 .. n_tasks - 1 in any order; worker < size() identifies the
    // scratch space that a task may use. `work` is the approximate number of inner-loop steps of all tasks
    // together: below a threshold, waking threads costs more than it saves.
    template <class F>
    void run(int64_t n_tasks, int64_t work, F&& task) {
        if (n_tasks <= 1 || n_threads_ <= 1 || work < kSerialWork || !usable()) {
            for (int64_t i = 0; i < n_tasks; ++i) task(i, 0);
            return;
        }
        dispatch(n_tasks, &task, [](void* context, int64_t index, int worker) {
            (*static_cast<std::remove_reference_t<F>*>(context))(index, worker);
        });
    }

  private:
    using Call = void (*)(void* context, int64_t index, int worker);
    // About 15 microseconds of one core.
    static constexpr int64_t kSerialWork = 30'000;
    // Number of spins before a waiting thread sleeps, about 30 microseconds. Waking a thread takes as long,
    // and kernel calls follow one another closely; spinning longer would take cores from other processes.
    static constexpr int kSpins = 1500;

    bool usable();
    void dispatch(int64_t n_tasks, void* context, Call call);
    void drain(int worker);
    void loop(int worker);

    int n_threads_;
    int64_t process_;
    std::vector<std::thread> threads_;
    size_t n_started_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<uint64_t> generation_{0};
    std::atomic<int> running_{0};
    bool stop_ = false;
    bool busy_ = false;
    Call call_ = nullptr;
    void* context_ = nullptr;
    std::exception_ptr error_;
    int64_t n_tasks_ = 0;
    std::atomic<int64_t> next_{0};
};

}  // namespace gtgbm
