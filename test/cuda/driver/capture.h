//===- capture.h - streams that capture -------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_CAPTURE_H
#define MTC_TEST_CUDA_DRIVER_CAPTURE_H

#include "test/cuda/driver/cuda_api.h"
#include "test/cuda/driver/work.h"

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace mtc::standin {

class Driver;

/// From cuStreamBeginCapture to cuStreamEndCapture.
struct Capture {
  cuuint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id owner;
  CUstream origin = nullptr;
  CUgraph graph = nullptr;
  bool ownsGraph = true;      ///< made for it
  size_t firstNode = 0;       ///< of the graph's, that was made in it
  std::set<CUstream> streams; ///< origin and those that joined
  bool invalidated = false, ended = false;
};
using CapturePtr = std::shared_ptr<Capture>;

class Captures {
public:
  CUresult begin(Driver &driver, CUstream stream, CUgraph graph,
                 std::vector<CUgraphNode> heads, CUstreamCaptureMode mode);
  /// *graph is null if there is none.
  CUresult end(Driver &driver, CUstream stream, CUgraph *graph);
  /// Puts a node behind what a stream has captured.
  CUresult add(Driver &driver, CUstream stream, std::unique_ptr<Work> work);
  /// A stream, capturing or not, waits for an event of a capture.
  CUresult join(Driver &driver, CUstream stream, CUevent event);
  /// A stream is destroyed.
  void leave(Driver &driver, CUstream stream);

  /// A call that this stream's capture forbids: the capture is invalidated.
  CUresult refuse(CUstream stream, CUresult result);
  /// For calls that may wait for the device: refused, and captures invalidated,
  /// as the modes of captures and of this thread say.
  CUresult refuseUnsafe();
  /// For calls that wait for all streams of a context: any capture of it
  /// forbids them.
  CUresult refuseAny(CUcontext context);
  /// Captures of streams that are ordered with the legacy one of a context
  /// forbid its use.
  CUresult refuseImplicit(CUcontext context);

  /// Of this thread; cuThreadExchangeStreamCaptureMode.
  static thread_local CUstreamCaptureMode threadMode;

private:
  void close(Capture &capture);
  void drop(Driver &driver, Capture &capture);

  std::vector<CapturePtr> active;
  cuuint64_t made = 0;
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_CAPTURE_H
