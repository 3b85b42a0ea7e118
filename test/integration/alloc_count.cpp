//===- alloc_count.cpp - who allocates in the rank processes -----*- C++
//-*-===//
//
// Preloaded (LD_PRELOAD) by test_memory.py. Counts the calls of the allocator
// and of mmap in processes that are ranks (MTC_RANK is set), apart for two
// callers: the program itself, and the libraries it calls for matrix products.
// A call belongs to the innermost frame that is not of the C or C++ library:
// `new` in the program is the program's, whatever libstdc++ does for it.
//
// The counters lie in a shared file $MTC_ALLOC_COUNT.<rank>, so they outlive
// any way to end: {calls, bytes} of the program, {calls, bytes} of the
// libraries, and the offset in the program of the code that allocated last; all
// int64.
//
//===----------------------------------------------------------------------===//
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {

struct Counters {
  std::atomic<int64_t> calls[2], bytes[2], lastOfProgram;
};
static_assert(sizeof(Counters) == 5 * sizeof(int64_t));

enum Owner { program, library, nobody };

Counters *counters = nullptr;
/// Unwinding allocates at its first call; nor does it count itself.
thread_local bool inside __attribute__((tls_model("initial-exec"))) = false;

bool named(const char *path, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (std::strstr(path, name))
      return true;
  return false;
}

Owner ownerOf(const Dl_info &module) {
  const char *path = module.dli_fname ? module.dli_fname : "";
  if (named(path, {"libdnnl", "libgomp", "libOpenCL"}))
    return library;
  if (named(path, {"/libc.so", "libstdc++", "libgcc_s", "libfmt", "libm.so",
                   "ld-linux", "alloc_count"}))
    return nobody;
  return program;
}

struct Walk {
  Owner owner = program; // code that no module has is generated code
  int64_t offset = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context *context, void *argument) {
  auto *walk = static_cast<Walk *>(argument);
  auto address = static_cast<uintptr_t>(_Unwind_GetIP(context));
  Dl_info module;
  if (!dladdr(reinterpret_cast<void *>(address), &module))
    return _URC_NO_REASON;
  Owner owner = ownerOf(module);
  if (owner == nobody)
    return _URC_NO_REASON;
  walk->owner = owner;
  walk->offset = static_cast<int64_t>(
      address - reinterpret_cast<uintptr_t>(module.dli_fbase));
  return _URC_END_OF_STACK;
}

void count(size_t bytes) {
  if (!counters || inside)
    return;
  inside = true;
  Walk walk;
  _Unwind_Backtrace(visit, &walk);
  counters->calls[walk.owner] += 1;
  counters->bytes[walk.owner] += static_cast<int64_t>(bytes);
  if (walk.owner == program)
    counters->lastOfProgram = walk.offset;
  inside = false;
}

__attribute__((constructor)) void open() {
  const char *rank = std::getenv("MTC_RANK");
  const char *prefix = std::getenv("MTC_ALLOC_COUNT");
  if (!rank || !prefix)
    return;
  char path[4096];
  std::snprintf(path, sizeof path, "%s.%s", prefix, rank);
  int fd = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Counters)) != 0)
    return;
  void *memory = reinterpret_cast<void *>(
      syscall(SYS_mmap, nullptr, sizeof(Counters), PROT_READ | PROT_WRITE,
              MAP_SHARED, fd, 0));
  close(fd);
  if (memory != MAP_FAILED)
    counters = static_cast<Counters *>(memory);
}

} // namespace

extern "C" {

void *malloc(size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  count(number * bytes);
  return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes) {
  count(bytes);
  return __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  count(bytes);
  void *memory = __libc_memalign(alignment, bytes);
  if (!memory)
    return ENOMEM;
  *out = memory;
  return 0;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd,
           off_t offset) {
  count(bytes);
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd,
             off64_t offset) {
  count(bytes);
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

} // extern "C"
