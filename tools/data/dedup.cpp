//===- dedup.cpp - leaves near-duplicates out -----------------------------===//

#include "tools/data/dedup.h"

#include "runtime/base/output_files.h"
#include "tools/data/file_stamp.h"
#include "tools/data/json_object.h"
#include "tools/data/near_duplicates.h"

#include <fmt/format.h>

#include <unordered_map>

using mtc::runtime::InputFile;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

/// Where a document is.
struct Place {
  size_t file = 0;
  int64_t line = 0, offset = 0, bytes = 0;
};

struct Signed {
  Place place;
  Bands bands;
};
using SignedChunk = std::vector<Signed>;

Status changed(const std::string &path, int64_t line) {
  return {StatusCode::inputRejected,
          fmt::format("{}:{}: expected a file that does not change while it is "
                      "read",
                      path, line)};
}

/// Shingles of documents, read again from their files; those of the last ones
/// are kept.
class ShingleReader {
public:
  ShingleReader(const DedupOptions &options, const std::vector<Place> &places)
      : options_(options), places_(places), files_(options.texts.files.size()) {
  }

  Status index(int64_t a, int64_t b, double &out) {
    MTC_RETURN_IF_ERROR(read(a));
    std::vector<uint64_t> first = kept_.at(a); // reading b may end its stay
    MTC_RETURN_IF_ERROR(read(b));
    out = jaccard(first, kept_.at(b));
    return Status::okay();
  }

private:
  static constexpr size_t kMostKept = 1 << 22; // shingles: 32 MiB

  Status read(int64_t document) {
    if (kept_.contains(document))
      return Status::okay();
    if (shingles_ > kMostKept) {
      kept_.clear();
      shingles_ = 0;
    }
    const Place &place = places_[document];
    if (place.bytes == 0) { // an empty line or file
      kept_[document];
      return Status::okay();
    }
    InputFile &file = files_[place.file];
    const std::string &path = options_.texts.files[place.file];
    if (file.path().empty())
      MTC_RETURN_IF_ERROR(InputFile::open(path, file));
    TextChunk chunk;
    chunk.text.resize(place.bytes);
    MTC_RETURN_IF_ERROR(
        file.read(place.offset, chunk.text.data(), place.bytes));
    chunk.line = place.line;
    bool found = false;
    forEachLine(
        chunk, options_.texts, /*anyBytes=*/false,
        [&](const DocumentText &, const TextLine &line) {
          found = true;
          std::vector<uint64_t> &shingles = kept_[document];
          shingles = shinglesOf(line.text, static_cast<int>(options_.shingle));
          shingles_ += shingles.size();
        },
        [](int64_t, const std::string &) {});
    return found ? Status::okay() : changed(path, place.line);
  }

  const DedupOptions &options_;
  const std::vector<Place> &places_;
  std::vector<InputFile> files_;
  std::unordered_map<int64_t, std::vector<uint64_t>> kept_;
  size_t shingles_ = 0;
};

/// The first pass: the signature of each document.
Status signAll(const DedupOptions &options, TextSource &source,
               const Watch &watch, std::vector<Place> &places,
               std::vector<Bands> &bands) {
  MinHash hash(static_cast<uint64_t>(options.seed));
  LineOutput none;
  Meter meter("dedup, signatures", source.bytes(), watch);
  auto work = [&](const TextChunk &chunk, int,
                  ChunkResult<SignedChunk> &result) {
    forEachLine(
        chunk, options.texts, /*anyBytes=*/false,
        [&](const DocumentText &document, const TextLine &line) {
          Place place = {chunk.file, document.line, document.offset,
                         static_cast<int64_t>(document.text.size())};
          result.counts.push_back(
              {place, hash.bands(shinglesOf(
                          line.text, static_cast<int>(options.shingle)))});
        },
        [&](int64_t line, const std::string &problem) {
          addProblem(source.place(chunk.file, line), problem, result.problems);
        });
  };
  return rewriteText<SignedChunk>(source, options.texts.workers, none, meter,
                                  work, [&](const SignedChunk &chunk) {
                                    for (const Signed &one : chunk) {
                                      places.push_back(one.place);
                                      bands.push_back(one.bands);
                                    }
                                  });
}

/// The last pass: of so many documents those that are the first of their group.
Status writeFirst(const DedupOptions &options, int64_t documents,
                  Groups &groups, const Watch &watch, LineOutput &out) {
  TextSource source;
  MTC_RETURN_IF_ERROR(
      TextSource::open(options.texts.files, options.texts.documents, source));
  Meter meter("dedup, writing", source.bytes(), watch);
  TextChunk chunk;
  int64_t document = 0, done = 0;
  for (bool more = true;;) {
    MTC_RETURN_IF_ERROR(source.next(chunk, more));
    if (!more)
      return document == documents
                 ? Status::okay()
                 : changed(options.texts.files.back(), chunk.line);
    std::string lines;
    forEachLine(
        chunk, options.texts, /*anyBytes=*/false,
        [&](const DocumentText &, const TextLine &line) {
          if (document < documents && groups.first(document) == document)
            lines.append(line.line).append("\n");
          ++document;
        },
        [](int64_t, const std::string &) {});
    if (document > documents)
      return changed(options.texts.files[chunk.file], chunk.line);
    MTC_RETURN_IF_ERROR(out.add(lines));
    done += static_cast<int64_t>(chunk.text.size());
    MTC_RETURN_IF_ERROR(meter.at(done));
  }
}

/// A line for each document that is left out: what it is a duplicate of.
Status writePairs(const DedupOptions &options, const std::vector<Place> &places,
                  const NearDuplicates &found, LineOutput &out) {
  auto placeOf = [&](int64_t document) {
    std::string text;
    appendJsonText(fmt::format("{}:{}",
                               options.texts.files[places[document].file],
                               places[document].line),
                   text);
    return text;
  };
  for (const NearPair &pair : found.pairs)
    MTC_RETURN_IF_ERROR(out.add(
        fmt::format("{{\"first\": {}, \"second\": {}, \"jaccard\": {:.6f}}}\n",
                    placeOf(pair.first), placeOf(pair.second), pair.index)));
  return Status::okay();
}

} // namespace

Status dedupCorpus(const DedupOptions &options, const Watch &watch,
                   Report &report) {
  if (!(options.threshold > 0 && options.threshold <= 1))
    return {StatusCode::usage,
            fmt::format("--threshold: expected a number above 0 and up to 1, "
                        "found {}",
                        options.threshold)};
  if (options.shingle < 1 || options.shingle > 1000)
    return {StatusCode::usage,
            fmt::format("--shingle: expected 1 to 1000 characters, found {}",
                        options.shingle)};
  if (!options.output.empty() && !options.pairs.empty() &&
      runtime::sameFile(options.output, options.pairs))
    return {StatusCode::usage, "--output and --pairs: expected two files"};
  TextSource source;
  FileStamps stamps;
  MTC_RETURN_IF_ERROR(
      TextSource::open(options.texts.files, options.texts.documents, source));
  MTC_RETURN_IF_ERROR(FileStamps::take(options.texts.files, stamps));
  LineOutput out, pairs;
  MTC_RETURN_IF_ERROR(
      LineOutput::create(options.output, options.texts.files, out));
  MTC_RETURN_IF_ERROR(
      LineOutput::create(options.pairs, options.texts.files, pairs));
  std::vector<Place> places;
  std::vector<Bands> bands;
  MTC_RETURN_IF_ERROR(signAll(options, source, watch, places, bands));

  auto documents = static_cast<int64_t>(places.size());
  Groups groups(documents);
  NearDuplicates found;
  ShingleReader shingles(options, places);
  Meter meter("dedup, pairs", kBands, watch, /*countsBytes=*/false);
  MTC_RETURN_IF_ERROR(joinNearDuplicates(
      bands, options.threshold,
      [&](int64_t a, int64_t b, double &index) {
        return shingles.index(a, b, index);
      },
      [&](int band) { return meter.at(band); }, groups, found));
  MTC_RETURN_IF_ERROR(writePairs(options, places, found, pairs));
  if (!options.output.empty())
    MTC_RETURN_IF_ERROR(writeFirst(options, documents, groups, watch, out));
  MTC_RETURN_IF_ERROR(stamps.check());
  MTC_RETURN_IF_ERROR(pairs.commit());
  MTC_RETURN_IF_ERROR(out.commit());

  // Each pair joined two groups.
  auto dropped = static_cast<int64_t>(found.pairs.size());
  report.add("documents", "documents", documents);
  report.add("duplicates", "near-duplicates", dropped);
  report.add("kept", "kept", documents - dropped);
  report.add("compared", "pairs compared", found.compared);
  report.add("threshold", "threshold", options.threshold);
  report.add("seed", "seed", options.seed);
  if (!options.output.empty())
    report.add("output", "written", options.output);
  return Status::okay();
}

} // namespace mtc::data
