//===- token_documents.cpp - documents that a token ends ------------------===//

#include "runtime/data/token_documents.h"

namespace mtc::runtime {

TokenDocuments::TokenDocuments(std::unique_ptr<SampleSource> samples,
                               int64_t seq, int32_t eod)
    : samples_(std::move(samples)), eod_(eod),
      read_(static_cast<size_t>(seq) + 1) {}

Status TokenDocuments::documentStarts(int64_t sample,
                                      std::vector<int32_t> &out) const {
  out.clear();
  MTC_RETURN_IF_ERROR(samples_->read(sample, read_.data()));
  for (size_t i = 1; i < read_.size(); ++i)
    if (read_[i - 1] == eod_)
      out.push_back(static_cast<int32_t>(i));
  return Status::okay();
}

} // namespace mtc::runtime
