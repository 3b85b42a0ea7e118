//===- gpt_index.cpp - which tokens are which sample ----------------------===//

#include "runtime/data/gpt_index.h"

#include "runtime/data/numpy_random.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mtc::runtime {
namespace {

Status interruptedIndex() {
  return {StatusCode::interrupted, "stopped while an index was built"};
}

/// Builds the arrays one after the other, and forgets each before the next.
class GptIndexBuilder {
public:
  GptIndexBuilder(const GptOrder &order, const GptShape &shape,
                  std::span<const int32_t> lengths, IndexFileWriter &out,
                  const DataProgress &progress)
      : order_(order), shape_(shape), lengths_(lengths), out_(out),
        progress_(progress), random_(order.seed) {}

  Status run() {
    makeDocuments();
    MTC_RETURN_IF_ERROR(out_.append(std::span<const int32_t>(documents_)));
    MTC_RETURN_IF_ERROR(writeStarts());
    documents_ = {};
    bool narrow = shape_.samples <= int64_t{UINT32_MAX};
    return narrow ? writeShuffle<uint32_t>() : writeShuffle<int64_t>();
  }

private:
  bool cutsFinal() const { return shape_.beforeFinal < shape_.samples; }

  template <typename T> void shuffle(std::span<T> values) {
    if (order_.shuffled)
      random_.shuffle(values);
  }

  void makeDocuments() {
    documents_.resize(static_cast<size_t>(shape_.documents));
    auto perEpoch = documents_.size() / static_cast<size_t>(shape_.epochs);
    for (auto at = documents_.begin(); at != documents_.end();
         at += static_cast<ptrdiff_t>(perEpoch))
      std::iota(at, at + static_cast<ptrdiff_t>(perEpoch),
                static_cast<int32_t>(order_.part.first));
    std::span<int32_t> all(documents_);
    size_t first = cutsFinal() ? all.size() - perEpoch : all.size();
    shuffle(all.first(first));
    shuffle(all.subspan(first));
  }

  Status writeStarts() {
    std::vector<int64_t> block;
    size_t document = 0;
    int64_t offset = 0;
    for (int64_t sample = 0; sample <= shape_.samples; ++sample) {
      block.push_back(static_cast<int64_t>(document));
      block.push_back(offset);
      if (block.size() >= kBlock || sample == shape_.samples) {
        if (progress_ && !progress_(static_cast<double>(sample) /
                                    static_cast<double>(shape_.samples)))
          return interruptedIndex();
        MTC_RETURN_IF_ERROR(out_.append(std::span<const int64_t>(block)));
        block.clear();
      }
      if (sample < shape_.samples)
        step(document, offset);
    }
    return Status::okay();
  }

  /// To the start of the next sample: its first token is the last one, a label,
  /// of this.
  void step(size_t &document, int64_t &offset) const {
    int64_t left = order_.seq + 1;
    for (;; ++document, offset = 0) {
      int64_t length =
          lengths_[static_cast<size_t>(documents_[document])] - offset;
      if (length >= left)
        break;
      left -= length;
    }
    offset += left - 1;
  }

  template <typename T> Status writeShuffle() {
    std::vector<T> order(static_cast<size_t>(shape_.samples));
    std::iota(order.begin(), order.end(), T{0});
    std::span<T> all(order);
    auto first = static_cast<size_t>(shape_.beforeFinal);
    shuffle(all.first(first));
    shuffle(all.subspan(first));
    return out_.append(std::span<const T>(order));
  }

  static constexpr size_t kBlock = size_t{1} << 16;
  const GptOrder &order_;
  const GptShape &shape_;
  std::span<const int32_t> lengths_;
  IndexFileWriter &out_;
  const DataProgress &progress_;
  NumpyRandom random_;
  std::vector<int32_t> documents_;
};

} // namespace

std::string GptOrder::text() const {
  return fmt::format("sequences {} to {}, seq {}, samples {}, {}", part.first,
                     part.end, seq, samples,
                     shuffled ? fmt::format("seed {}", seed) : "in order");
}

Status GptShape::of(const GptOrder &order, int64_t tokens, GptShape &out) {
  GptShape shape;
  shape.tokens = tokens;
  if (tokens <= 0 || (order.samples == 0 && tokens <= order.seq))
    return {StatusCode::inputRejected,
            fmt::format("the part has {} tokens in {} sequences; one sample "
                        "needs {} (seq + 1)",
                        tokens, order.part.end - order.part.first,
                        order.seq + 1)};
  int64_t wanted, all, perEpoch = order.part.end - order.part.first;
  if (__builtin_mul_overflow(order.samples, order.seq, &wanted) ||
      __builtin_add_overflow(wanted, tokens, &all))
    return {StatusCode::usage,
            fmt::format("{} samples of {} tokens are more than can be counted",
                        order.samples, order.seq)};
  // The fewest epochs with at least wanted + 1 tokens.
  shape.epochs = order.samples == 0 ? 1 : wanted / tokens + 1;
  shape.samples = (shape.epochs * tokens - 1) / order.seq;
  shape.beforeFinal = shape.samples;
  if (__builtin_mul_overflow(shape.epochs, perEpoch, &shape.documents))
    return {StatusCode::usage,
            fmt::format("{} epochs of {} sequences are more than can be "
                        "counted",
                        shape.epochs, perEpoch)};
  int64_t before = ((shape.epochs - 1) * tokens - 1) / order.seq;
  int64_t whole = (tokens - 1) / order.seq;
  auto least = static_cast<int64_t>(0.80 * static_cast<double>(whole));
  if (shape.epochs > 1 && order.samples - before < least)
    shape.beforeFinal = before;
  out = shape;
  return Status::okay();
}

int64_t GptShape::memory() const {
  int64_t width = samples <= int64_t{UINT32_MAX} ? 4 : 8;
  if (documents > INT64_MAX / 8 || samples > INT64_MAX / 8)
    return INT64_MAX;
  return std::max(4 * documents, width * samples);
}

std::vector<IndexArray> gptArrays(const GptShape &shape, int64_t sequences,
                                  int64_t longest) {
  return {IndexArray::upTo(sequences, shape.documents),
          IndexArray::upTo(std::max(shape.documents, longest),
                           2 * (shape.samples + 1)),
          IndexArray::upTo(shape.samples, shape.samples)};
}

Status buildGptIndex(const GptOrder &order, const GptShape &shape,
                     std::span<const int32_t> lengths, IndexFileWriter &out,
                     const DataProgress &progress) {
  return GptIndexBuilder(order, shape, lengths, out, progress).run();
}

} // namespace mtc::runtime
