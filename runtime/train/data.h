//===- data.h - samples from a flat file of tokens --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_DATA_H
#define MTC_RUNTIME_TRAIN_DATA_H

#include "runtime/base/file.h"
#include "runtime/data/token_type.h"
#include "runtime/program/rank.h"
#include "runtime/train/job.h"
#include "runtime/train/positions.h"

#include <cstddef>
#include <string>
#include <vector>

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

  /// The file of a job, in its order, for samples of `seq` tokens. Errors: also
  /// when it is not the size that the job was checked with.
  static Status open(const Job &job, const BatchInfo &batch, int64_t seq,
                     TokenFile &out);

  int64_t bytes() const { return file_.size(); } ///< when it was opened
  int64_t windows() const { return windows_; }
  /// Tokens from the start of a window to the end of its labels: seq + 1.
  int64_t windowTokens() const { return seq_ + 1; }
  int64_t windowBytes() const { return windowTokens() * tokenBytes_; }
  /// The first token of sample k's window.
  int64_t firstToken(int64_t sample) const;
  /// Sample k is window k mod windows instead of a permuted one.
  void setSequential(bool on) { sequential_ = on; }
  /// Reads the window of sample k to `out`, windowBytes() as they are in the
  /// file. Errors: inputRejected, when the file was cut, or a token is not in
  /// [0, vocab), with its position.
  Status read(int64_t sample, std::byte *out) const;
  /// Writes the tokens [first, first + count) of a window that was read: the
  /// label of a position is the token behind it.
  void widen(const std::byte *window, int64_t first, int64_t count,
             int32_t *out) const;
  /// Reads tokens [first, first + count), and adds those that are not in the
  /// vocabulary to `bad`. Errors: inputRejected, when the file was cut.
  Status scan(int64_t first, int64_t count, BadTokens &bad);
  /// What is said of tokens that were found; ok if there are none.
  Status rejection(const BadTokens &bad) const;

private:
  void look(const std::byte *tokens, int64_t first, int64_t count,
            BadTokens &bad) const;

  InputFile file_;
  std::vector<std::byte> block_; ///< of scan
  int tokenBytes_ = 2;
  int64_t seq_ = 0, vocab_ = 0, windows_ = 0;
  uint64_t seed_ = 0;
  bool sequential_ = false;
};

/// Feeds a rank with the positions that it has of its samples: microbatch k of
/// dp rank r holds the samples base + (k·dp + r)·micro_batch + [0,
/// micro_batch), where `base` is the first sample of the step. The tokens of
/// two steps are in memory: a file that is cut or changed is noticed before the
/// step that needs it.
class TokenLoader final : public DataLoader {
public:
  /// Opens the job's file for samples of `seq` tokens. Only ranks whose program
  /// has inputs read it.
  Status open(const Job &job, const RankState &rank, int64_t seq);
  /// Reads the samples of the step that begins with sample `base`. Errors:
  /// those of TokenFile::read, with step and sample.
  Status fetch(int64_t base);
  /// From here on `load` gives samples of the step at `base`, which was fetched
  /// last or before that; else it is now.
  Status turnTo(int64_t base);
  Status load(const InputInfo &in, int64_t microbatch, int32_t *out) override;

private:
  struct Samples {
    int64_t base = -1;
    std::vector<std::byte> windows; ///< by microbatch, then inside of it
  };
  int64_t sampleAt(int64_t base, int64_t index) const;

  TokenFile tokens_;
  bool reads_ = false;
  BatchInfo batch_;
  int64_t dp_ = 1, dpRank_ = 0;
  std::vector<Positions> parts_; ///< of each sample
  Samples now_, next_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_DATA_H
