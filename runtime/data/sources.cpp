//===- sources.cpp - prepares the samples of a run ------------------------===//

#include "runtime/data/sources.h"

#include "runtime/base/number_text.h"
#include "runtime/data/data_path.h"
#include "runtime/data/flat_samples.h"
#include "runtime/data/token_documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// A corpus that was looked at.
struct Corpus {
  IndexedDataset set;
  IndexedSummary summary;
  SequenceRange part;
  int64_t tokens = 0; ///< of the part
};

class SourcePreparation {
public:
  SourcePreparation(const SourceRequest &request, const DataProgress &progress,
                    std::vector<std::string> &notes, SourceFiles &out)
      : request_(request), progress_(progress), notes_(notes), out_(out) {}

  Status run() {
    DataPath path;
    MTC_RETURN_IF_ERROR(parseDataPath(request_.data, request_.option, path));
    out_.seq = request_.seq;
    out_.sequential = request_.sequential;
    out_.seed = request_.seed;
    out_.eod = request_.eod;
    out_.order["order"] = request_.sequential ? "sequential" : "shuffled";
    if (!request_.sequential)
      out_.order["seed"] = std::to_string(request_.seed);
    if (!path.flat.empty())
      return takeFlat(path.flat);
    if (!request_.sequential && request_.seed > UINT32_MAX)
      return {StatusCode::usage,
              fmt::format("--seed {}: expected at most {} where the data are "
                          "corpora, whose shuffles begin with 32 bits",
                          request_.seed, UINT32_MAX)};
    bool one = path.prefixes.size() == 1 && path.weights.empty();
    if (one)
      return takeCorpus(path.prefixes[0], request_.once ? 0 : request_.samples);
    return takeBlend(path);
  }

private:
  Status takeFlat(const std::string &path) {
    if (!request_.split.empty())
      return {StatusCode::usage,
              fmt::format("--split: expected corpora with it, whose documents "
                          "are parted, found the flat file '{}'",
                          path)};
    MTC_RETURN_IF_ERROR(lookAtFlatFile(path, request_.rawType, out_.flat));
    out_.order["data"] = fmt::format("{} tokens of {}", out_.flat.count,
                                     infoOf(out_.flat.type).name);
    FlatSamples samples; // says whether there are enough tokens
    return FlatSamples::open(out_.flat, request_.seq, INT32_MAX, 0, true,
                             samples);
  }

  /// All of an .idx, and which part of it is asked for.
  Status look(const std::string &prefix, Corpus &corpus) {
    MTC_RETURN_IF_ERROR(IndexedDataset::open(prefix, corpus.set));
    MTC_RETURN_IF_ERROR(
        corpus.set.check(corpus.summary, /*wantsLengths=*/true, progress_));
    if (corpus.set.sequences() > INT32_MAX)
      return {StatusCode::inputRejected,
              fmt::format("'{}': expected at most {} sequences, found {}",
                          corpus.set.indexFile(), INT32_MAX,
                          corpus.set.sequences())};
    Split split;
    MTC_RETURN_IF_ERROR(Split::parse(request_.split, split));
    corpus.part = split.of(request_.part, corpus.set.sequences());
    for (int64_t i = corpus.part.first; i < corpus.part.end; ++i)
      corpus.tokens += corpus.summary.lengths[static_cast<size_t>(i)];
    return Status::okay();
  }

  Status takeCorpus(const std::string &prefix, int64_t samples) {
    Corpus corpus;
    MTC_RETURN_IF_ERROR(look(prefix, corpus));
    GptOrder order{corpus.part, request_.seq, samples,
                   static_cast<uint32_t>(request_.seed), !request_.sequential};
    if (request_.sequential)
      order.seed = 0;
    std::string name = fmt::format(
        "corpus '{}'{}", prefix,
        request_.split.empty()
            ? ""
            : fmt::format(", part '{}' of --split {}",
                          kSplitPartNames[static_cast<int>(request_.part)],
                          request_.split));
    GptShape shape;
    if (Status status = GptShape::of(order, corpus.tokens, shape); !status.ok())
      return {status.code(), fmt::format("{}: {}", name, status.message())};
    MTC_RETURN_IF_ERROR(checkMemory(name, shape, corpus));
    std::string key = digestOf(
        fmt::format("samples 1; {}; {}", corpus.summary.digest, order.text()));
    std::string file;
    std::vector<IndexArray> arrays =
        gptArrays(shape, corpus.set.sequences(), corpus.summary.longest);
    MTC_RETURN_IF_ERROR(keep(
        prefix, key, std::move(arrays),
        [&](IndexFileWriter &out) {
          return buildGptIndex(order, shape, corpus.summary.lengths, out,
                               progress_);
        },
        file));
    out_.corpora.push_back({prefix, file, key, corpus.set.sequences(),
                            corpus.set.tokens(), corpus.part});
    counts_.push_back(shape.samples);
    describe(corpus, shape);
    return Status::okay();
  }

  /// What of a corpus its order follows from. In their order samples are those
  /// of any number of epochs.
  void describe(const Corpus &corpus, const GptShape &shape) {
    std::string number = std::to_string(out_.corpora.size());
    out_.order["corpus " + number] =
        fmt::format("{:.8} (its digest) from sequence {} to {}",
                    corpus.summary.digest, corpus.part.first, corpus.part.end);
    if (!request_.sequential)
      out_.order["epochs of corpus " + number] = fmt::format(
          "{}{}", shape.epochs,
          shape.beforeFinal < shape.samples ? " (the last by itself)" : "");
  }

  Status checkMemory(const std::string &name, const GptShape &shape,
                     const Corpus &corpus) const {
    int64_t needed = shape.memory();
    int64_t lengths = 4 * corpus.set.sequences();
    int64_t there = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (needed <= there - lengths)
      return Status::okay();
    return {StatusCode::infeasible,
            fmt::format("{}: an index of {} samples in {} epochs needs {} of "
                        "memory, of which this machine has {}; ask for fewer "
                        "steps",
                        name, grouped(shape.samples), grouped(shape.epochs),
                        sized(needed), sized(there))};
  }

  Status takeBlend(const DataPath &path) {
    std::vector<double> shares = normalized(path.weights);
    for (size_t i = 0; i < path.prefixes.size(); ++i)
      MTC_RETURN_IF_ERROR(takeCorpus(
          path.prefixes[i],
          shares.empty() ? 0 : blendSupply(request_.samples, shares[i])));
    int64_t samples = 0;
    if (shares.empty()) {
      // By how many samples each has in one epoch.
      for (int64_t count : counts_) {
        shares.push_back(static_cast<double>(count));
        samples += count;
      }
      if (request_.samples > samples && !request_.once)
        return {StatusCode::usage,
                fmt::format("{}: corpora without weights are read once, and "
                            "have {} samples together, fewer than the {} of "
                            "the run; give weights",
                            request_.option, samples, request_.samples)};
      samples = std::min(samples, request_.samples);
    } else {
      for (double share : shares)
        samples += blendTarget(request_.samples, share);
    }
    return deal(path, normalized(shares), samples);
  }

  Status deal(const DataPath &path, const std::vector<double> &shares,
              int64_t samples) {
    std::string text = fmt::format("blend 1; {} samples", samples);
    for (double share : shares)
      text += fmt::format("; {}", share);
    out_.order["shares"] = fmt::format("{}", fmt::join(shares, " "));
    // An index that is too short for the blend has another key as well.
    for (int64_t count : counts_)
      text += fmt::format(" {}", count);
    out_.blendKey = digestOf(text);
    int64_t corpora = static_cast<int64_t>(shares.size());
    return keep(
        path.prefixes[0], out_.blendKey,
        {IndexArray::upTo(corpora, samples),
         IndexArray::upTo(samples, samples)},
        [&](IndexFileWriter &out) {
          return writeBlend(path, shares, samples, out);
        },
        out_.blend);
  }

  Status writeBlend(const DataPath &path, const std::vector<double> &shares,
                    int64_t samples, IndexFileWriter &out) const {
    constexpr int64_t block = int64_t{1} << 16;
    std::vector<int64_t> values;
    for (bool corpora : {true, false}) {
      BlendDealer dealer(shares);
      for (int64_t i = 0; i < samples; ++i) {
        BlendDealer::Dealt dealt = dealer.next();
        values.push_back(corpora ? dealt.corpus : dealt.sample);
        if (i % block != block - 1 && i != samples - 1)
          continue;
        if (progress_ &&
            !progress_(static_cast<double>(i) / static_cast<double>(samples)))
          return {StatusCode::interrupted, "stopped while an index was built"};
        MTC_RETURN_IF_ERROR(out.append(std::span<const int64_t>(values)));
        values.clear();
      }
      for (size_t d = 0; d < shares.size(); ++d)
        if (dealer.counts()[d] > counts_[d])
          return {StatusCode::usage,
                  fmt::format("{}: the blend takes {} samples of '{}', whose "
                              "index has {}; ask for more samples, or another "
                              "weight",
                              request_.option, dealer.counts()[d],
                              path.prefixes[d], counts_[d])};
    }
    return Status::okay();
  }

  /// Finds the index of a key, or writes it.
  Status keep(const std::string &prefix, const std::string &key,
              std::vector<IndexArray> arrays,
              const std::function<Status(IndexFileWriter &)> &write,
              std::string &file) {
    std::string folder =
        request_.cache.empty() ? prefix + ".indices" : request_.cache;
    file = folder + "/" + key + ".index";
    struct stat info;
    if (stat(file.c_str(), &info) == 0) {
      IndexFile index;
      Status status = IndexFile::open(file, key, index);
      if (status.ok())
        status = index.verify(progress_);
      if (status.ok() || status.code() == StatusCode::interrupted)
        return status;
      notes_.push_back(
          fmt::format("warning: {}; it is built again", status.message()));
    }
    if (Status status =
            writeIndexFile(folder, file, key, std::move(arrays), write);
        !status.ok())
      return status.code() != StatusCode::writeFailed
                 ? status
                 : Status(status.code(),
                          fmt::format("{}; --data-cache-path names a folder "
                                      "for indices",
                                      status.message()));
    return Status::okay();
  }

  static Status
  writeIndexFile(const std::string &folder, const std::string &file,
                 const std::string &key, std::vector<IndexArray> arrays,
                 const std::function<Status(IndexFileWriter &)> &write) {
    MTC_RETURN_IF_ERROR(makeFolders(folder));
    IndexFileWriter out;
    MTC_RETURN_IF_ERROR(
        IndexFileWriter::create(file, key, std::move(arrays), out));
    MTC_RETURN_IF_ERROR(write(out));
    return out.commit();
  }

  const SourceRequest &request_;
  const DataProgress &progress_;
  std::vector<std::string> &notes_;
  SourceFiles &out_;
  std::vector<int64_t> counts_; ///< samples of each corpus
};

} // namespace

Status prepareSource(const SourceRequest &request, const DataProgress &progress,
                     std::vector<std::string> &notes, SourceFiles &out) {
  SourceFiles files;
  MTC_RETURN_IF_ERROR(SourcePreparation(request, progress, notes, files).run());
  out = std::move(files);
  return Status::okay();
}

static Status openTokens(const SourceFiles &files, int64_t vocab,
                         std::unique_ptr<SampleSource> &out) {
  if (!files.flat.path.empty()) {
    auto flat = std::make_unique<FlatSamples>();
    MTC_RETURN_IF_ERROR(FlatSamples::open(files.flat, files.seq, vocab,
                                          files.seed, files.sequential, *flat));
    out = std::move(flat);
    return Status::okay();
  }
  std::vector<GptSamples> corpora(files.corpora.size());
  for (size_t i = 0; i < corpora.size(); ++i)
    MTC_RETURN_IF_ERROR(
        GptSamples::open(files.corpora[i], files.seq, vocab, corpora[i]));
  if (files.blend.empty()) {
    out = std::make_unique<GptSamples>(std::move(corpora[0]));
    return Status::okay();
  }
  auto blend = std::make_unique<BlendedSamples>();
  MTC_RETURN_IF_ERROR(BlendedSamples::open(files.blend, files.blendKey,
                                           std::move(corpora), *blend));
  out = std::move(blend);
  return Status::okay();
}

Status openSource(const SourceFiles &files, int64_t vocab,
                  std::unique_ptr<SampleSource> &out) {
  std::unique_ptr<SampleSource> tokens;
  MTC_RETURN_IF_ERROR(openTokens(files, vocab, tokens));
  if (files.eod < 0)
    out = std::move(tokens);
  else
    out = std::make_unique<TokenDocuments>(std::move(tokens), files.seq,
                                           static_cast<int32_t>(files.eod));
  return Status::okay();
}

} // namespace mtc::runtime
