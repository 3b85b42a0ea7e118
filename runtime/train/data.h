//===- data.h - samples from a flat file of tokens --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_DATA_H
#define MTC_RUNTIME_TRAIN_DATA_H

#include "mtc/runtime/recipe.h"
#include "runtime/base/file.h"
#include "runtime/program/rank.h"

#include <string>

namespace mtc::runtime {

/// A file of T tokens has W = (T - 1) / seq windows. Sample k is the window
/// perm(k mod W) of epoch k / W: its inputs are the tokens [w·seq, w·seq + seq)
/// and its labels the same range shifted by one.
class TokenFile {
public:
  /// `dtype`: u8, u16 or i32. Errors: inputRejected (missing, empty, a size
  /// that is no multiple of the token's, shorter than one window), usage
  /// (dtype).
  static Status open(const std::string &path, const std::string &dtype,
                     int64_t seq, int64_t vocab, uint64_t seed, TokenFile &out);

  int64_t windows() const { return windows_; }
  /// Sample k is window k mod windows instead of a permuted one.
  void setSequential(bool on) { sequential_ = on; }
  /// Writes the `seq` inputs (shift 0) or labels (shift 1) of sample k.
  /// Errors: inputRejected when a token is not in [0, vocab), with its
  /// position.
  Status read(int64_t sample, int shift, int32_t *out) const;

private:
  template <typename Token> Status copy(int64_t first, int32_t *out) const;

  MappedFile file_;
  std::string path_;
  int tokenBytes_ = 2;
  int64_t seq_ = 0, vocab_ = 0, windows_ = 0;
  uint64_t seed_ = 0;
  bool sequential_ = false;
};

/// Feeds a rank: microbatch k of dp rank r holds the samples
/// base + (k·dp + r)·micro_batch + [0, micro_batch), where `base` is the first
/// sample of the step.
class TokenLoader final : public DataLoader {
public:
  /// Opens the recipe's file. Only ranks whose program has inputs read it.
  Status open(const Recipe &recipe, const RankState &rank);
  void setBase(int64_t base) { base_ = base; }
  Status load(const InputInfo &in, int64_t microbatch, int32_t *out) override;

private:
  TokenFile tokens_;
  BatchInfo batch_;
  int64_t dp_ = 1, dpRank_ = 0, base_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_DATA_H
