//===- hold.h - a checkpoint that is read stays -----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CHECKPOINT_HOLD_H
#define MTC_RUNTIME_CHECKPOINT_HOLD_H

#include <string>
#include <utility>

namespace mtc::runtime {

/// While this lives, nobody removes a checkpoint to keep fewer of them. A lock
/// of the kernel on its manifest, which ends with the process, however that
/// ends; where a file system has no locks, nothing.
class CheckpointHold {
public:
  CheckpointHold() = default;
  CheckpointHold(CheckpointHold &&other) noexcept { swap(other); }
  CheckpointHold &operator=(CheckpointHold &&other) noexcept {
    swap(other);
    return *this;
  }
  ~CheckpointHold() { letGo(); }

  /// To read it, beside others. None of a folder that lost its name meanwhile.
  static CheckpointHold take(const std::string &folder);
  /// To remove it. False: somebody reads it.
  static bool takeAlone(const std::string &folder, CheckpointHold &out);
  void letGo();

private:
  void swap(CheckpointHold &other) noexcept { std::swap(fd_, other.fd_); }
  bool open(const std::string &folder, int flags);
  int fd_ = -1; ///< of the manifest
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINT_HOLD_H
