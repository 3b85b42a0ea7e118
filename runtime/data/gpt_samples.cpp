//===- gpt_samples.cpp - samples of a corpus by its index -----------------===//

#include "runtime/data/gpt_samples.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {

Status GptSamples::open(const Files &files, int64_t seq, int64_t vocab,
                        GptSamples &out) {
  GptSamples samples;
  samples.files_ = files;
  samples.seq_ = seq;
  samples.vocab_ = vocab;
  MTC_RETURN_IF_ERROR(IndexedDataset::open(files.prefix, samples.set_));
  MTC_RETURN_IF_ERROR(IndexFile::open(files.index, files.key, samples.index_));
  if (samples.index_.arrays() != 3)
    return samples.damaged("expected three arrays");
  if (samples.set_.sequences() != files.sequences ||
      samples.set_.tokens() != files.tokens)
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected {} sequences and {} tokens, as many as "
                        "when it was checked, found {} and {}; what writes it "
                        "must end before the run begins",
                        samples.set_.indexFile(), files.sequences, files.tokens,
                        samples.set_.sequences(), samples.set_.tokens())};
  out = std::move(samples);
  return Status::okay();
}

Status GptSamples::damaged(const std::string &what) const {
  return {StatusCode::inputRejected,
          fmt::format("cached index '{}': {}; remove it, and it is built again",
                      index_.path(), what)};
}

Status GptSamples::findSequence(int64_t sequence, int64_t &first,
                                int64_t &count) const {
  if (sequence < 0 || sequence >= set_.sequences())
    return damaged(fmt::format("expected sequences below {}, found {}",
                               set_.sequences(), sequence));
  int32_t length;
  int64_t pointer;
  MTC_RETURN_IF_ERROR(set_.lengths(sequence, 1, &length));
  MTC_RETURN_IF_ERROR(set_.pointers(sequence, 1, &pointer));
  first = pointer / set_.tokenBytes();
  count = length;
  // They were checked before the run; a file may change.
  if (count >= 0 && first >= 0 && first <= set_.tokens() - count)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("'{}', sequence {}: expected tokens in the {} of the "
                      ".bin, found {} from {} on; it was changed",
                      set_.indexFile(), sequence, set_.tokens(), count, first)};
}

template <typename Visit>
Status GptSamples::forRuns(int64_t sample, const Visit &visit) const {
  constexpr int64_t block = 64; // sequences that are looked up at a time
  int64_t at, bounds[4], sequences[block];
  MTC_RETURN_IF_ERROR(index_.read(kGptShuffle, sample, 1, &at));
  if (at < 0 || at >= samples())
    return damaged(
        fmt::format("expected samples below {}, found {}", samples(), at));
  MTC_RETURN_IF_ERROR(index_.read(kGptStarts, 2 * at, 4, bounds));
  int64_t position = 0, last = bounds[2];
  bool inside = bounds[0] >= 0 && bounds[0] <= last &&
                last < index_.count(kGptDocuments) && bounds[1] >= 0 &&
                bounds[1] <= INT32_MAX && bounds[3] >= 0 &&
                bounds[3] < INT32_MAX;
  if (!inside)
    return damaged(fmt::format("sample {} begins or ends nowhere", at));
  for (int64_t place = bounds[0]; place <= last; ++place) {
    int64_t in = (place - bounds[0]) % block;
    if (in == 0)
      MTC_RETURN_IF_ERROR(index_.read(
          kGptDocuments, place, std::min(block, last - place + 1), sequences));
    int64_t first, length;
    MTC_RETURN_IF_ERROR(findSequence(sequences[in], first, length));
    int64_t from = place == bounds[0] ? bounds[1] : 0;
    int64_t end = place == last ? bounds[3] + 1 : length;
    if (from > end || end > length || position + end - from > seq_ + 1)
      return damaged(fmt::format("sample {} has tokens that sequence {} has "
                                 "not",
                                 at, sequences[in]));
    MTC_RETURN_IF_ERROR(visit({position, first + from, end - from, from == 0}));
    position += end - from;
  }
  return position == seq_ + 1
             ? Status::okay()
             : damaged(fmt::format("expected {} tokens of sample {}, found {}",
                                   seq_ + 1, at, position));
}

Status GptSamples::read(int64_t sample, int32_t *out) const {
  BadTokens bad;
  read_.reserve(static_cast<size_t>((seq_ + 1) * set_.tokenBytes()));
  MTC_RETURN_IF_ERROR(forRuns(sample, [&](const Run &run) -> Status {
    read_.resize(static_cast<size_t>(run.count * set_.tokenBytes()));
    MTC_RETURN_IF_ERROR(set_.tokenBytes(run.first, run.count, read_.data()));
    findBadTokens(set_.type(), read_.data(), run.count, vocab_, run.first, bad);
    widenTokens(set_.type(), read_.data(), run.count, out + run.position);
    return Status::okay();
  }));
  return rejectionOf(bad, set_.tokenFile(), vocab_, "the tokenizer");
}

Status GptSamples::documentStarts(int64_t sample,
                                  std::vector<int32_t> &out) const {
  out.clear();
  return forRuns(sample, [&](const Run &run) {
    if (run.begins && run.count > 0)
      out.push_back(static_cast<int32_t>(run.position));
    return Status::okay();
  });
}

Status GptSamples::scan(int64_t first, int64_t count, BadTokens &bad) const {
  constexpr int64_t most = int64_t{1} << 18; // tokens in memory at a time
  read_.resize(static_cast<size_t>(std::min(most, count) * set_.tokenBytes()));
  for (int64_t end = first + count; first < end; first += most) {
    int64_t part = std::min(most, end - first);
    MTC_RETURN_IF_ERROR(set_.tokenBytes(first, part, read_.data()));
    findBadTokens(set_.type(), read_.data(), part, vocab_, first, bad);
  }
  return Status::okay();
}

Status GptSamples::check(int64_t first, int64_t count,
                         const DataProgress &progress) const {
  BadTokens bad;
  auto tell = [&](int64_t done, int64_t of) -> Status {
    if (!progress ||
        progress(static_cast<double>(done) / static_cast<double>(of)))
      return Status::okay();
    return {StatusCode::interrupted, "stopped while tokens were checked"};
  };
  int64_t begin, end, length;
  MTC_RETURN_IF_ERROR(findSequence(files_.part.first, begin, length));
  MTC_RETURN_IF_ERROR(findSequence(files_.part.end - 1, end, length));
  end += length;
  // Once through the part is less work than as many tokens from all over it.
  bool row = count >= (end - begin) / seq_;
  constexpr int64_t part = int64_t{1} << 22;
  for (int64_t at = begin; row && at < end; at += part) {
    MTC_RETURN_IF_ERROR(tell(at - begin, end - begin));
    MTC_RETURN_IF_ERROR(scan(at, std::min(part, end - at), bad));
  }
  for (int64_t k = 0; !row && k < count; ++k) {
    MTC_RETURN_IF_ERROR(tell(k, count));
    MTC_RETURN_IF_ERROR(forRuns(first + k, [&](const Run &run) {
      return scan(run.first, run.count, bad);
    }));
  }
  return rejectionOf(bad, set_.tokenFile(), vocab_, "the tokenizer");
}

Status BlendedSamples::open(const std::string &file, const std::string &key,
                            std::vector<GptSamples> corpora,
                            BlendedSamples &out) {
  BlendedSamples blend;
  MTC_RETURN_IF_ERROR(IndexFile::open(file, key, blend.index_));
  if (blend.index_.arrays() != 2)
    return {StatusCode::inputRejected,
            fmt::format("cached index '{}': expected two arrays", file)};
  blend.corpora_ = std::move(corpora);
  out = std::move(blend);
  return Status::okay();
}

Status BlendedSamples::find(int64_t sample, const GptSamples *&corpus,
                            int64_t &own) const {
  int64_t which;
  MTC_RETURN_IF_ERROR(index_.read(kCorpora, sample, 1, &which));
  MTC_RETURN_IF_ERROR(index_.read(kSamples, sample, 1, &own));
  if (which < static_cast<int64_t>(corpora_.size())) {
    corpus = &corpora_[static_cast<size_t>(which)];
    return Status::okay();
  }
  return {StatusCode::inputRejected,
          fmt::format("cached index '{}': expected a corpus below {}, found "
                      "{}; remove it, and it is built again",
                      index_.path(), corpora_.size(), which)};
}

Status BlendedSamples::read(int64_t sample, int32_t *out) const {
  const GptSamples *corpus;
  int64_t own;
  MTC_RETURN_IF_ERROR(find(sample, corpus, own));
  return corpus->read(own, out);
}

Status BlendedSamples::documentStarts(int64_t sample,
                                      std::vector<int32_t> &out) const {
  const GptSamples *corpus;
  int64_t own;
  MTC_RETURN_IF_ERROR(find(sample, corpus, own));
  return corpus->documentStarts(own, out);
}

Status BlendedSamples::check(int64_t first, int64_t count,
                             const DataProgress &progress) const {
  // Each corpus gives samples one after the other: those of a range are one.
  constexpr int64_t block = int64_t{1} << 16;
  std::vector<int64_t> which(block), own(block);
  std::vector<SequenceRange> ranges(corpora_.size(), {INT64_MAX, 0});
  for (int64_t at = first; at < first + count; at += block) {
    int64_t part = std::min(block, first + count - at);
    MTC_RETURN_IF_ERROR(index_.read(kCorpora, at, part, which.data()));
    MTC_RETURN_IF_ERROR(index_.read(kSamples, at, part, own.data()));
    for (int64_t i = 0; i < part; ++i) {
      SequenceRange &range =
          ranges.at(std::min(static_cast<size_t>(which[i]), ranges.size() - 1));
      range.first = std::min(range.first, own[i]);
      range.end = std::max(range.end, own[i] + 1);
    }
  }
  for (size_t i = 0; i < corpora_.size(); ++i)
    if (!ranges[i].empty())
      MTC_RETURN_IF_ERROR(corpora_[i].check(
          ranges[i].first, ranges[i].end - ranges[i].first, [&](double done) {
            return !progress || progress((static_cast<double>(i) + done) /
                                         static_cast<double>(ranges.size()));
          }));
  return Status::okay();
}

} // namespace mtc::runtime
