//===- token_documents.h - documents that a token ends ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_TOKEN_DOCUMENTS_H
#define MTC_RUNTIME_DATA_TOKEN_DOCUMENTS_H

#include "runtime/data/samples.h"

#include <memory>

namespace mtc::runtime {

/// Samples of another source, in which a document begins behind each token
/// `eod`, as Megatron-LM has it, whatever that source says of documents.
class TokenDocuments final : public SampleSource {
public:
  /// Of samples of `seq` + 1 tokens.
  TokenDocuments(std::unique_ptr<SampleSource> samples, int64_t seq,
                 int32_t eod);

  int64_t samples() const override { return samples_->samples(); }
  bool repeats() const override { return samples_->repeats(); }
  Status read(int64_t sample, int32_t *out) const override {
    return samples_->read(sample, out);
  }
  /// Reads the tokens of the sample.
  Status documentStarts(int64_t sample,
                        std::vector<int32_t> &out) const override;
  Status check(int64_t first, int64_t count,
               const DataProgress &progress) const override {
    return samples_->check(first, count, progress);
  }

private:
  std::unique_ptr<SampleSource> samples_;
  int32_t eod_;
  mutable std::vector<int32_t> read_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_TOKEN_DOCUMENTS_H
