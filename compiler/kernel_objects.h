//===- kernel_objects.h - machine code of a plan's kernels ------*- C++ -*-===//
//
// Nothing behind plan-memory changes a kernel, and to make code of them takes
// longer than all else. So it begins while the plan is still looked at, most of
// which one thread does.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_KERNEL_OBJECTS_H
#define MTC_COMPILER_KERNEL_OBJECTS_H

#include "compiler/stage.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace mtc::compiler {

/// The objects of the kernels of a module, one for each group of them. None for
/// a GPU, whose kernels are text among the fragments.
class KernelObjects {
public:
  /// Of a module with `mtc.config`, whose kernels stay as they are for as long
  /// as this does. `check` is of the last phases.
  KernelObjects(mlir::ModuleOp module, IRCheck check);
  /// Waits for what a thread of its own is at.
  ~KernelObjects();
  KernelObjects(const KernelObjects &) = delete;
  KernelObjects &operator=(const KernelObjects &) = delete;

  const SharedKernels &kernels() const { return shared; }

  /// The groups in the order in which their objects are best begun: those that
  /// take long first, so that no processor waits long for the last of another.
  const std::vector<size_t> &order() const { return longestFirst; }

  /// Makes one after the other on a thread of its own, until all are made or
  /// `join` says that others make them. The context has threads and has loaded
  /// what the last phases make; times add up in `timing`.
  void begin(mlir::TimingScope &timing);
  /// The thread begins no further one.
  void join();

  /// The object of a group, made here unless it was, or is being, made. Once
  /// for each; safe to call from several threads, in any order. Errors: those
  /// of `makeObject`.
  runtime::Status take(size_t group, mlir::TimingScope &timing,
                       std::string &bytes);

private:
  struct Object {
    ObjectJob job;
    bool isTaken = false, isMade = false;
    runtime::Status status;
    std::string bytes;
  };

  bool claim(Object &object, bool isEarly);
  void make(Object &object, mlir::TimingScope &timing);

  SharedKernels shared;
  std::vector<size_t> longestFirst;
  std::deque<Object> objects; ///< by group
  std::mutex mutex;           ///< of what objects hold but jobs
  std::condition_variable made;
  bool isJoined = false;
  std::thread thread;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_KERNEL_OBJECTS_H
