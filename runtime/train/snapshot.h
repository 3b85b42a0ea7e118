//===- snapshot.h - a copy of what a rank has, on the host ------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_SNAPSHOT_H
#define MTC_RUNTIME_TRAIN_SNAPSHOT_H

#include "runtime/base/host_memory.h"
#include "runtime/pieces/pieces.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// What pieces of a device were at one time, as pieces on the host: training
/// goes on while they are written. Its memory is taken once.
class Snapshot {
public:
  /// Takes memory for such pieces. `name` is whose it is, for messages. Errors:
  /// infeasible.
  static Status create(const std::vector<Piece> &pieces,
                       const std::string &name, Snapshot &out);
  /// Copies the elements of the same pieces, which `pieces()` then has. Errors:
  /// those of the stream.
  Status take(Stream &stream, const std::vector<Piece> &pieces);

  const std::vector<Piece> &pieces() const { return pieces_; }
  int64_t bytes() const { return memory_.bytes(); }

private:
  HostMemory memory_;
  std::vector<Piece> pieces_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_SNAPSHOT_H
