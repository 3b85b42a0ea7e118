//===- last_words.cpp - errors that cannot be returned --------------------===//

#include "tools/mtc/last_words.h"

#include "compiler/interrupt.h"
#include "runtime/base/abort_watch.h"

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <system_error>

using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

/// Memory of the thread that ends the process as there is no other: removing
/// what was begun takes some, and other threads would take whatever is given
/// back. For `malloc`, as of `operator new`, strings and directories.
constexpr std::size_t kReserve = 1 << 20;
alignas(std::max_align_t) std::byte gReserve[kReserve];
std::size_t gReserveUsed = 0;
thread_local bool gEnding = false;
bool gInstalled = false;

/// An exception that nobody catches: in a thread of a library, when there is
/// none to be had for the next one.
[[noreturn]] void uncaught() {
  std::string why = "an exception that nobody caught";
  try {
    if (std::current_exception())
      std::rethrow_exception(std::current_exception());
  } catch (const std::system_error &error) {
    why = std::string(error.what()) + "; check `ulimit -u` and `ulimit -v`";
  } catch (const std::exception &error) {
    why = error.what();
  } catch (...) {
  }
  compiler::endProcess(("error: " + why + "\n").c_str(), StatusCode::failed);
}

/// A library that gives up, such as the C library where it has no memory for
/// what a thread ends with: it has said why. Unless others know better, as of
/// one that lost a peer.
void aborted(int) {
  if (const runtime::LastWords *words = runtime::AbortWatch::await())
    compiler::endProcess(words->text.c_str(), words->code);
  std::signal(SIGABRT, SIG_DFL);
  gEnding = true;
  compiler::endProcess("error: a library could not go on; where it says that "
                       "memory is short, check `ulimit -v`\n",
                       StatusCode::failed);
}

/// Whoever asks for more looks at what came, and may do without.
constexpr std::size_t kUnchecked = 1 << 20;

} // namespace

void noMemory() {
  gEnding = true;
  compiler::endProcess("error: out of memory; check `ulimit -v` and free "
                       "memory, or do less at a time (compile --jobs 1, data "
                       "--workers 1)\n",
                       StatusCode::failed);
}

void smallAllocationFailed(std::size_t bytes) {
  if (gInstalled && bytes < kUnchecked)
    noMemory();
}

bool isEnding() { return gEnding; }

void *allocateFromReserve(std::size_t bytes) {
  constexpr std::size_t alignment = alignof(std::max_align_t);
  if (bytes > kReserve - gReserveUsed)
    return nullptr;
  void *memory = gReserve + gReserveUsed;
  gReserveUsed += (bytes + alignment - 1) / alignment * alignment;
  return memory;
}

bool isOfReserve(const void *memory) {
  std::less<const void *> less;
  return !less(memory, gReserve) && less(memory, gReserve + kReserve);
}

void installLastWords() {
  gInstalled = true;
  std::set_new_handler(noMemory);
  std::set_terminate(uncaught);
  std::signal(SIGABRT, aborted);
}

} // namespace mtc::tool

// MLIR makes an operation in what malloc returns and does not look whether that
// is null: it would end by a signal, and leave what it began. Sanitizers have a
// malloc of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void *__libc_malloc(std::size_t bytes);
extern "C" void __libc_free(void *memory);
extern "C" void *malloc(std::size_t bytes) {
  if (mtc::tool::isEnding())
    return mtc::tool::allocateFromReserve(bytes);
  void *memory = __libc_malloc(bytes);
  if (!memory)
    mtc::tool::smallAllocationFailed(bytes);
  return memory;
}
extern "C" void free(void *memory) {
  if (!mtc::tool::isOfReserve(memory))
    __libc_free(memory);
}
#endif
