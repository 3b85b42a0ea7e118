//===- part.h - one call while it runs --------------------------*- C++ -*-===//
//
// Ranks show their bytes piece by piece in shared memory. A part is asked again
// and again, by one thread at a time, until it is done; it never waits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_PART_H
#define MTC_TEST_CUDA_NCCL_PART_H

#include "test/cuda/nccl/call.h"
#include "test/cuda/nccl/shared.h"

#include <cuda.h>

#include <optional>
#include <string>

namespace mtc::standin::nccl {

/// A call with its buffers.
struct Request {
  Call call;
  CUdeviceptr from = 0, to = 0;
};

/// What a part is for: this rank's end of a call.
struct PartPlace {
  const Shared &shared;
  int rank;
  /// How many collectives of the communicator, or sends or receives of the
  /// pair, came before.
  uint64_t number;
};

enum class PartState { waiting, moved, done };

class Part {
public:
  Part(const Request &request, const PartPlace &place)
      : request(request), place(place) {}

  /// Does what can be done, of one piece at most. Of a disagreement the first
  /// rank that sees it gets the sentence in *wrong; no rank of the communicator
  /// gets any further then.
  PartState step(std::string *wrong);
  bool isDone() const { return done; }
  /// Garbage in all that was to be written.
  void spoil() const;
  /// The first other rank without which this does not go on, or -1.
  int missing() const;
  const Request &what() const { return request; }

private:
  PartState stepCollective(std::string *wrong);
  PartState stepTransfer(std::string *wrong);
  bool begin();
  std::optional<std::string> disagreement() const;
  bool collectiveIsThere(int rank) const;
  void show();
  void read();
  uint64_t chainShift() const;
  size_t pieceElements() const;
  /// Elements [first, last) of the piece that comes next.
  size_t pieceBegin() const { return piece * elements; }
  size_t pieceEnd() const;

  const Request request;
  const PartPlace place;
  bool begun = false, shown = false, agreed = false, done = false;
  size_t elements = 0;  ///< of a piece
  uint64_t pieces = 0;  ///< at least one
  uint64_t piece = 0;   ///< the next one
  uint64_t basePut = 0; ///< of the stages, when this began
};

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_PART_H
