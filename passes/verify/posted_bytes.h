//===- posted_bytes.h - bytes between post and wait -------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_POSTED_BYTES_H
#define MTC_PASSES_VERIFY_POSTED_BYTES_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// The bytes of the activation arena that a stage has posted transfers of and
/// not waited for. Nobody may write them, and nobody may read where a value is
/// received. That each is waited for once, in the same step, is checked with
/// the machine (schedules::PostedTransfers).
class PostedBytes {
public:
  void post(const Row &row, const rt::Transfer &transfer);
  /// Reports a transfer that was not posted as it is waited for.
  void wait(const Row &row, const rt::Transfer &transfer, Report &report);
  /// Reports that a row reads or writes bytes [begin, end) that it may not.
  void checkRead(const Row &row, int64_t begin, int64_t end,
                 Report &report) const;
  void checkWrite(const Row &row, int64_t begin, int64_t end,
                  Report &report) const;

private:
  struct Posted {
    rt::Transfer transfer;
    const Row *row;
  };
  void check(const Row &row, int64_t begin, int64_t end, bool writes,
             Report &report) const;

  std::vector<Posted> all; ///< few: what a stage runs ahead
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_POSTED_BYTES_H
