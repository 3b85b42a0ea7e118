//===- indexed_check.cpp - all fields of an .idx --------------------------===//

#include "runtime/base/digest.h"
#include "runtime/data/indexed_dataset.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

constexpr int64_t kBlock = int64_t{1} << 16; ///< elements in memory at a time

/// A rule, how often it is broken, and where it was first.
struct BrokenRule {
  int64_t count = 0;
  std::string first;
  void add(const std::string &what) {
    if (count++ == 0)
      first = what;
  }
  std::string text() const {
    return count > 1 ? fmt::format("{} (and {} more)", first, count - 1)
                     : first;
  }
};

template <typename T> std::string_view bytesOf(const T *values, int64_t count) {
  return {reinterpret_cast<const char *>(values),
          static_cast<size_t>(count) * sizeof(T)};
}

class IndexCheck {
public:
  IndexCheck(const IndexedDataset &set, IndexedSummary &out, bool wantsLengths,
             const DataProgress &progress)
      : set_(set), out_(out), wantsLengths_(wantsLengths), progress_(progress) {
  }

  Status run() {
    digest_.add(fmt::format("{} {} {};", infoOf(set_.type()).name,
                            set_.sequences(), set_.documents()));
    if (wantsLengths_)
      out_.lengths.reserve(static_cast<size_t>(set_.sequences()));
    MTC_RETURN_IF_ERROR(checkSequences());
    MTC_RETURN_IF_ERROR(checkDocuments());
    out_.digest = digest_.text();
    return verdict();
  }

private:
  Status checkSequences() {
    auto block = static_cast<size_t>(std::min(kBlock, set_.sequences()));
    std::vector<int32_t> lengths(block);
    std::vector<int64_t> pointers(block);
    for (int64_t at = 0; at < set_.sequences(); at += kBlock) {
      int64_t count = std::min(kBlock, set_.sequences() - at);
      MTC_RETURN_IF_ERROR(tell(at));
      MTC_RETURN_IF_ERROR(set_.lengths(at, count, lengths.data()));
      MTC_RETURN_IF_ERROR(set_.pointers(at, count, pointers.data()));
      digest_.add(bytesOf(lengths.data(), count));
      if (wantsLengths_)
        out_.lengths.insert(out_.lengths.end(), lengths.begin(),
                            lengths.begin() + count);
      for (int64_t i = 0; i < count; ++i)
        sequence(at + i, lengths[i], pointers[i]);
    }
    return Status::okay();
  }

  void sequence(int64_t i, int32_t length, int64_t pointer) {
    // At most 2^31 tokens each, and as many as fit a file: no overflow.
    int64_t expected = out_.tokens * set_.tokenBytes();
    if (pointer != expected)
      pointers_.add(fmt::format("pointer of sequence {}: expected byte {}, "
                                "where the one before ends, found {}",
                                i, expected, pointer));
    if (length < 0) {
      lengths_.add(fmt::format("length of sequence {}: expected 0 or more, "
                               "found {}",
                               i, length));
      return;
    }
    out_.tokens += length;
    out_.longest = std::max<int64_t>(out_.longest, length);
  }

  Status checkDocuments() {
    int64_t before = 0, all = set_.documents() + 1;
    std::vector<int64_t> starts(static_cast<size_t>(std::min(kBlock, all)));
    for (int64_t at = 0; at < all; at += kBlock) {
      int64_t count = std::min(kBlock, all - at);
      MTC_RETURN_IF_ERROR(tell(set_.sequences()));
      MTC_RETURN_IF_ERROR(set_.documentStarts(at, count, starts.data()));
      digest_.add(bytesOf(starts.data(), count));
      for (int64_t i = 0; i < count; ++i) {
        document(at + i, starts[i], before);
        before = starts[i];
      }
    }
    return Status::okay();
  }

  void document(int64_t i, int64_t start, int64_t before) {
    if (i == set_.documents() && start != set_.sequences())
      documents_.add(fmt::format("document index {}, the last: expected {}, "
                                 "the number of sequences, found {}",
                                 i, set_.sequences(), start));
    else if (i == 0 && start != 0)
      documents_.add(
          fmt::format("document index 0: expected 0, found {}", start));
    else if (start < before || start > set_.sequences())
      documents_.add(fmt::format("document index {}: expected {}, the one "
                                 "before, to {}, the number of sequences, "
                                 "found {}",
                                 i, before, set_.sequences(), start));
  }

  Status tell(int64_t done) {
    double all = static_cast<double>(std::max<int64_t>(1, set_.sequences()));
    if (!progress_ || progress_(static_cast<double>(done) / all))
      return Status::okay();
    return {StatusCode::interrupted,
            fmt::format("stopped while '{}' was checked", set_.indexFile())};
  }

  Status verdict() const {
    std::string problems;
    for (const BrokenRule *rule : {&lengths_, &pointers_, &documents_})
      if (rule->count > 0)
        problems +=
            fmt::format("{}{}", problems.empty() ? "" : "\n  ", rule->text());
    if (!problems.empty())
      return {StatusCode::inputRejected,
              fmt::format("index file '{}': {}", set_.indexFile(), problems)};
    if (out_.tokens == set_.tokens())
      return Status::okay();
    return {StatusCode::inputRejected,
            fmt::format("token file '{}': expected {} bytes, {} tokens of {} "
                        "as the lengths in '{}' say, found {} bytes",
                        set_.tokenFile(), out_.tokens * set_.tokenBytes(),
                        out_.tokens, infoOf(set_.type()).name, set_.indexFile(),
                        set_.tokens() * set_.tokenBytes())};
  }

  const IndexedDataset &set_;
  IndexedSummary &out_;
  bool wantsLengths_;
  const DataProgress &progress_;
  Digest digest_;
  BrokenRule lengths_, pointers_, documents_;
};

} // namespace

Status IndexedDataset::check(IndexedSummary &out, bool wantsLengths,
                             const DataProgress &progress) const {
  IndexedSummary summary;
  MTC_RETURN_IF_ERROR(IndexCheck(*this, summary, wantsLengths, progress).run());
  out = std::move(summary);
  return Status::okay();
}

} // namespace mtc::runtime
