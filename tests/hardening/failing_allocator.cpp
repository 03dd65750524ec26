// An allocator that fails on demand, to be loaded before all others (LD_PRELOAD).
//
// failing_allocator_arm(skipped, smallest, kinds, is_lasting): of the allocations that are counted from now on,
// `skipped` succeed, and the next one fails; with is_lasting all that follow fail too. Counted are those of at
// least `smallest` bytes and of the kinds: 1 operator new, 2 malloc and its relatives, 4 mmap.
// failing_allocator_disarm() returns how many were counted.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);

namespace {

constexpr int kNew = 1, kMalloc = 2, kMmap = 4;
std::atomic<bool> armed{false}, lasting{false};
std::atomic<int64_t> counted{0}, allowed{0};
std::atomic<size_t> least{0};
std::atomic<int> counted_kinds{0};

bool fails(size_t size, int kind) {
    if (!armed.load() || size < least.load() || (counted_kinds.load() & kind) == 0) return false;
    const int64_t number = counted.fetch_add(1);
    return lasting.load() ? number >= allowed.load() : number == allowed.load();
}

void* checked_new(size_t size, size_t alignment) {
    if (fails(size, kNew)) throw std::bad_alloc();
    if (size == 0) size = 1;
    void* found = alignment > alignof(max_align_t) ? __libc_memalign(alignment, size) : __libc_malloc(size);
    if (found == nullptr) throw std::bad_alloc();
    return found;
}

void* quiet_new(size_t size) {
    return fails(size, kNew) ? nullptr : __libc_malloc(size == 0 ? 1 : size);
}

}  // namespace

extern "C" {

void failing_allocator_arm(int64_t skipped, size_t smallest, int kinds, int is_lasting) {
    counted = 0;
    allowed = skipped;
    least = smallest;
    counted_kinds = kinds;
    lasting = is_lasting != 0;
    armed = true;
}

int64_t failing_allocator_disarm() {
    armed = false;
    return counted;
}

void* malloc(size_t size) {
    if (!fails(size, kMalloc)) return __libc_malloc(size);
    errno = ENOMEM;
    return nullptr;
}

void* calloc(size_t count, size_t size) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total) || fails(total, kMalloc)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_calloc(count, size);
}

void* realloc(void* given, size_t size) {
    if (!fails(size, kMalloc)) return __libc_realloc(given, size);
    errno = ENOMEM;
    return nullptr;
}

void* aligned_alloc(size_t alignment, size_t size) {
    if (!fails(size, kMalloc)) return __libc_memalign(alignment, size);
    errno = ENOMEM;
    return nullptr;
}

int posix_memalign(void** found, size_t alignment, size_t size) {
    *found = fails(size, kMalloc) ? nullptr : __libc_memalign(alignment, size);
    return *found == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
    using Mmap = void* (*)(void*, size_t, int, int, int, off_t);
    static const Mmap real = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
    if (!fails(length, kMmap)) return real(address, length, protection, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

}  // extern "C"

void* operator new(size_t size) {
    return checked_new(size, 0);
}
void* operator new[](size_t size) {
    return checked_new(size, 0);
}
void* operator new(size_t size, std::align_val_t alignment) {
    return checked_new(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
    return checked_new(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    return quiet_new(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
    return quiet_new(size);
}
