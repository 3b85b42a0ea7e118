//===- device.h - the memory of a rank and what runs on it ------*- C++ -*-===//
//
// The seam between the runtime and a kind of device. Trainer, data, dumps and
// saves know a rank's arenas as offsets only; they issue copies on its stream
// and wait for them. One folder per device implements it; devices.h makes the
// one that a run asks for.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_DEVICE_H
#define MTC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/base/status.h"
#include "runtime/device/arena.h"
#include "runtime/device/comm_stream.h"

#include <functional>
#include <string>

namespace mtc::runtime {

class Communicator; // comm/comm.h
class DeviceCalls;  // device_calls.h
struct Descriptor;  // program/descriptor.h
struct NormSum;     // kernels/cpu/norm.h
struct Program;     // program/program.h
class WorkKeeper;   // work_keeper.h

/// A point in a stream: behind everything that had been issued when it was
/// recorded. The default is a point that every stream has passed.
struct Event {
  uint64_t position = 0;
};

/// What a product reads and writes, by address on the device, and what it
/// calls: mtc_gemm, mtc_gemm_epilogue and mtc_gemm_then of abi.h.
struct GemmOperands {
  const void *a, *b;
  void *c, *scratch;
  const void *bias = nullptr;
  void *aux = nullptr;
  MtcTile then = nullptr; ///< null: nothing continues it
  void *argument = nullptr;
  NormSum *squares = nullptr; ///< what a row that counts adds to
};

/// op(b) of products, [k, n], and where it is packed: mtc_gemm_pack of abi.h.
struct PackOperands {
  int64_t n, k;
  bool tb;
  MtcDtype type;
  const void *b;
  void *packed;
};

/// A queue of work on one device. What is issued runs in the order of issue,
/// when the device likes: when `wait` returns it is done. A failure stops the
/// stream: what was issued behind it does not run. The Status of a call that
/// issues says what is known by then, at least that its arguments are wrong;
/// `wait` says the rest. Used by one thread at a time.
class Stream {
public:
  virtual ~Stream() = default;

  /// Copies `bytes` host bytes to an offset; they stay as they are until it is
  /// done. Error (internal): the range leaves its arena.
  virtual Status copyIn(ArenaOffset to, const void *from, int64_t bytes) = 0;
  /// Copies `bytes` bytes at an offset to the host, which owns them again once
  /// it is done. Errors as copyIn.
  virtual Status copyOut(ArenaOffset from, void *to, int64_t bytes) = 0;
  /// Sets every byte of a range to `byte`. Errors as copyIn.
  virtual Status fill(ArenaOffset to, uint8_t byte, int64_t bytes) = 0;
  /// Calls a fragment, with `context` and `row` of the program. Whether it
  /// failed is in the context once it is done.
  virtual Status launch(MtcFragment fragment, MtcContext *context,
                        const MtcStep *row) = 0;

  virtual Event record() = 0;
  /// Returns when everything before `event` is done, with the first failure of
  /// the stream.
  virtual Status wait(Event event) = 0;
};

/// Hears how many bytes of how many are there.
using PopulateProgress = std::function<void(int64_t, int64_t)>;

/// One rank's device.
class Device {
public:
  virtual ~Device() = default;

  /// Zero at first, as large as was asked for, and valid while this lives.
  virtual const ArenaViews &arenas() const = 0;
  /// The same as communicators of the host know them: memory of the host.
  virtual const ArenaViews &hostArenas() const { return arenas(); }
  virtual Stream &stream() = 0;

  /// Selects what the calls of a program need: instruction set, libraries,
  /// GEMMs. Once, before a fragment is launched. Errors: infeasible, where this
  /// machine's are not those that the program was planned for.
  virtual Status prepare(const Descriptor &descriptor) = 0;
  /// Gives arenas their memory at once, by all threads of the rank, where first
  /// uses would do so page by page: for who is about to use all of them. Behind
  /// `prepare`. `done` is heard now and then and may be empty. Changes nothing
  /// where memory is there from the start, or cannot be had like this.
  virtual void populate(const PopulateProgress &) {}
  /// Takes the program's code for the device, where it has some; behind
  /// `prepare`. Errors: infeasible, naming what the device rejects.
  virtual Status load(const Program &) { return Status::okay(); }
  /// What all ranks agreed on that no plan says and results depend on, the text
  /// of a JSON object, for the log; behind `load`. Empty: nothing.
  virtual std::string chosen() const { return ""; }
  /// What it does in place of the host; null: nothing.
  virtual DeviceCalls *calls() { return nullptr; }
  /// `kernelWorkspace` bytes of the descriptor, for one kernel at a time.
  virtual void *kernelWorkspace() { return nullptr; }
  /// For fragments: row `index` of the descriptor's GEMMs, as mtc_gemm,
  /// mtc_gemm_epilogue and mtc_gemm_then (abi.h).
  virtual Status gemm(int64_t index, const GemmOperands &operands) = 0;
  /// For fragments: mtc_gemm_pack. Errors: usage, of sizes or a type that no
  /// product has.
  virtual Status pack(const PackOperands &operands) = 0;
  /// The communicator that issues on this device's stream the calls of
  /// `backend`, one of the host's, which has done a call when it returns from
  /// it. The device's, or `backend` itself, which stays the caller's.
  virtual Communicator &issuing(Communicator &backend) = 0;
  /// Whether it exchanges what lies in its arenas by itself: then the `backend`
  /// of `issuing` hears of barriers and of buffers of the host only.
  virtual bool exchanges() const { return false; }
  /// Where work is kept to be issued again; behind `load`. Null: nowhere. What
  /// a device keeps obeys guards (mtc_zero_guarded), kernels' among them.
  virtual WorkKeeper *keeper() { return nullptr; }
  /// The queue of collectives beside `stream()`, once `issuing` was called;
  /// null where there is one queue, which then runs a plan of two in the order
  /// of the program: that obeys its events, too.
  virtual CommStream *commStream() { return nullptr; }
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_DEVICE_H
