//===- alloc_count.cpp - who allocates in a run ---------------------------===//
//
// Preloaded (LD_PRELOAD) by test_memory.py. Counts the calls of the allocator
// and of mmap in a process, apart for two callers: the program itself, and the
// libraries it calls for GEMMs. A call belongs to the innermost frame
// that is not of the C or C++ library: `new` in the program is the program's,
// whatever libstdc++ does for it.
//
// The counters lie in a shared file $MTC_ALLOC_COUNT.<rank>, so they outlive
// any way to end: {calls, bytes} of the program, {calls, bytes} of the
// libraries, and a table of who allocates in the program: {calls, the innermost
// 7 places on the stack}, calls 0 where the table ends; all int64. A place is
// an offset in the executable, -1 in another module, 0 above the outermost one.
// A process that is no rank (MTC_RANK is not set) is `main`: under `--comm
// threads` all ranks are in it.
//
// Names given to anonymous memory, which not every kernel keeps, are lines of
// $MTC_ALLOC_COUNT.names: address, bytes named, bytes that the mmap before it
// mapped at this address (0: another address), and the name. Bytes whose pages
// the kernel gave at once (MADV_POPULATE_WRITE) are lines of the name
// "populated".
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {

constexpr int kSites = 4096, kDepth = 7;

using Stack = std::array<int64_t, kDepth>;

struct Site {
  int64_t calls;
  Stack stack;
};

struct Counters {
  std::atomic<int64_t> calls[2], bytes[2];
  Site sites[kSites];
};
static_assert(sizeof(Counters) ==
              (4 + (1 + kDepth) * kSites) * sizeof(int64_t));

enum Owner { program, library, nobody };

Counters *counters = nullptr;
int namesFd = -1;
/// Addresses of the executable; searching them is much faster than dladdr.
struct {
  uintptr_t begin = 0, end = 0;
} executable;

struct Mapping {
  void *base = nullptr;
  size_t bytes = 0;
};
thread_local Mapping lastMapping __attribute__((tls_model("initial-exec")));
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
  if (named(path, {"/libc.so", "libstdc++", "libgcc_s", "libm.so", "ld-linux",
                   "alloc_count"}))
    return nobody;
  return program;
}

struct Walk {
  Owner owner = program; // code that no module has is generated code
  Stack stack = {};
  int depth = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context *context, void *argument) {
  auto *walk = static_cast<Walk *>(argument);
  uintptr_t address = _Unwind_GetIP(context);
  bool own = address >= executable.begin && address < executable.end;
  if (!own && walk->depth == 0) {
    Dl_info module;
    if (!dladdr(reinterpret_cast<void *>(address), &module))
      return _URC_NO_REASON;
    walk->owner = ownerOf(module);
    if (walk->owner == nobody)
      return _URC_NO_REASON;
    if (walk->owner == library)
      return _URC_END_OF_STACK;
  }
  walk->owner = program;
  walk->stack[walk->depth++] =
      own ? static_cast<int64_t>(address - executable.begin) : -1;
  return walk->depth < kDepth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Stacks that no longer fit are added to the last one, which is of nobody.
void countSite(const Stack &stack) {
  static std::atomic_flag busy;
  while (busy.test_and_set())
    continue;
  Site *site = counters->sites, *last = site + kSites - 1;
  while (site != last && site->calls > 0 && site->stack != stack)
    ++site;
  site->stack = site == last ? Stack{-1} : stack;
  ++site->calls;
  busy.clear();
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
    countSite(walk.stack);
  inside = false;
}

void *map(void *at, size_t bytes, int protection, int flags, int fd,
          off_t offset) {
  count(bytes);
  void *base = reinterpret_cast<void *>(
      syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
  lastMapping = {base, bytes};
  return base;
}

void recordName(void *base, size_t bytes, const char *name) {
  char line[256];
  size_t mapped = lastMapping.base == base ? lastMapping.bytes : 0;
  int length = std::snprintf(line, sizeof line, "%p %zu %zu %s\n", base, bytes,
                             mapped, name);
  // A line that is lost is an arena that the test misses.
  size_t written = std::min(static_cast<size_t>(length), sizeof line - 1);
  (void)!write(namesFd, line, written);
}

/// The first module is the executable. Always 1: no other is looked at.
int findExecutable(dl_phdr_info *module, size_t, void *) {
  executable.begin = module->dlpi_addr;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = module->dlpi_phdr[i];
    if (part.p_type == PT_LOAD)
      executable.end = std::max<uintptr_t>(
          executable.end, executable.begin + part.p_vaddr + part.p_memsz);
  }
  return 1;
}

__attribute__((constructor)) void open() {
  const char *rank = std::getenv("MTC_RANK");
  const char *prefix = std::getenv("MTC_ALLOC_COUNT");
  if (!prefix)
    return;
  dl_iterate_phdr(findExecutable, nullptr);
  char path[4096];
  std::snprintf(path, sizeof path, "%s.names", prefix);
  namesFd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::snprintf(path, sizeof path, "%s.%s", prefix, rank ? rank : "main");
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
  return map(at, bytes, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd,
             off64_t offset) {
  return map(at, bytes, protection, flags, fd, offset);
}

int madvise(void *base, size_t bytes, int advice) {
  long result = syscall(SYS_madvise, base, bytes, advice);
  if (advice == MADV_POPULATE_WRITE && result == 0 && namesFd >= 0)
    recordName(base, bytes, "populated");
  return static_cast<int>(result);
}

int prctl(int option, ...) {
  va_list rest;
  va_start(rest, option);
  unsigned long arguments[4];
  for (unsigned long &argument : arguments)
    argument = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_VMA && arguments[0] == PR_SET_VMA_ANON_NAME &&
      namesFd >= 0)
    recordName(reinterpret_cast<void *>(arguments[1]), arguments[2],
               reinterpret_cast<const char *>(arguments[3]));
  return static_cast<int>(syscall(SYS_prctl, option, arguments[0], arguments[1],
                                  arguments[2], arguments[3]));
}

} // extern "C"
