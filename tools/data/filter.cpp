//===- filter.cpp - leaves documents out by rules -------------------------===//

#include "tools/data/filter.h"

#include "tools/data/ngrams.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

struct Filtered {
  int64_t documents = 0, brief = 0, overlapping = 0;
};

/// Reads the tasks; `brief` texts have no run of n words.
Status readTasks(const FilterOptions &options, NgramSet &runs, int64_t &brief) {
  if (options.tasks.empty())
    return Status::okay();
  TextOptions texts = options.texts;
  texts.documents = Documents::jsonl;
  TextSource source;
  MTC_RETURN_IF_ERROR(TextSource::open(options.tasks, texts.documents, source));
  TextChunk chunk;
  for (bool more = true;;) {
    MTC_RETURN_IF_ERROR(source.next(chunk, more));
    if (!more)
      return Status::okay();
    std::string problems;
    forEachLine(
        chunk, texts, /*anyBytes=*/false,
        [&](const DocumentText &, const TextLine &line) {
          brief += !runs.add(line.text);
        },
        [&](int64_t line, const std::string &problem) {
          addProblem(source.place(chunk.file, line), problem, problems);
        });
    if (!problems.empty())
      return {StatusCode::inputRejected, problems};
  }
}

class Filter {
public:
  Filter(const FilterOptions &options, const Tokenizer *tokenizer,
         const NgramSet &runs)
      : options_(options), tokenizer_(tokenizer), runs_(runs),
        scratch_(tokenizer ? options.texts.workers : 0) {}

  bool keeps(std::string_view text, int thread, Filtered &counts) {
    ++counts.documents;
    bool isBrief = hasTooFewTokens(text, thread);
    // All documents are looked at, for how many runs any of them has.
    bool overlaps = runs_.size() > 0 && runs_.look(text);
    counts.brief += isBrief;
    counts.overlapping += !isBrief && overlaps;
    return !isBrief && !overlaps;
  }

private:
  bool hasTooFewTokens(std::string_view text, int thread) {
    if (!tokenizer_)
      return false;
    std::vector<int32_t> tokens;
    tokenizer_->encode(text, scratch_[thread], tokens);
    return static_cast<int64_t>(tokens.size()) < options_.minTokens;
  }

  const FilterOptions &options_;
  const Tokenizer *tokenizer_;
  const NgramSet &runs_;
  std::vector<EncodeScratch> scratch_;
};

void describe(const FilterOptions &options, const Filtered &counts,
              const NgramSet &runs, int64_t briefTasks, Report &report) {
  report.add("documents", "documents", counts.documents);
  if (options.minTokens > 0)
    report.add("short", fmt::format("below {} tokens", options.minTokens),
               counts.brief);
  if (!options.tasks.empty()) {
    report.add("overlapping", "overlap with tasks", counts.overlapping);
    report.add("task_ngrams", fmt::format("{}-grams of tasks", options.ngram),
               runs.size());
    report.add("task_ngrams_found", "of them in documents", runs.found());
    report.add("task_texts_too_short", "task texts too short", briefTasks);
  }
  report.add("kept", "kept",
             counts.documents - counts.brief - counts.overlapping);
  if (!options.output.empty())
    report.add("output", "written", options.output);
}

} // namespace

Status filterCorpus(const FilterOptions &options, const Watch &watch,
                    Report &report) {
  std::unique_ptr<Tokenizer> tokenizer;
  if (options.minTokens > 0)
    MTC_RETURN_IF_ERROR(makeTokenizer(options.tokenizer, tokenizer));
  else if (options.tasks.empty())
    return {StatusCode::usage, "filter: expected a rule, --min-tokens above 0 "
                               "or --ngrams-of"};
  NgramSet runs(options.ngram);
  int64_t briefTasks = 0;
  MTC_RETURN_IF_ERROR(readTasks(options, runs, briefTasks));
  runs.seal();
  TextSource source;
  MTC_RETURN_IF_ERROR(
      TextSource::open(options.texts.files, options.texts.documents, source));
  std::vector<std::string> inputs = options.texts.files;
  inputs.insert(inputs.end(), options.tasks.begin(), options.tasks.end());
  LineOutput out;
  MTC_RETURN_IF_ERROR(LineOutput::create(options.output, inputs, out));

  Filter filter(options, tokenizer.get(), runs);
  Meter meter("filter", source.bytes(), watch);
  Filtered all;
  auto work = [&](const TextChunk &chunk, int thread,
                  ChunkResult<Filtered> &result) {
    forEachLine(
        chunk, options.texts, /*anyBytes=*/false,
        [&](const DocumentText &, const TextLine &line) {
          if (filter.keeps(line.text, thread, result.counts))
            result.lines.append(line.line).append("\n");
        },
        [&](int64_t line, const std::string &problem) {
          addProblem(source.place(chunk.file, line), problem, result.problems);
        });
  };
  MTC_RETURN_IF_ERROR(
      rewriteText<Filtered>(source, options.texts.workers, out, meter, work,
                            [&](const Filtered &counts) {
                              all.documents += counts.documents;
                              all.brief += counts.brief;
                              all.overlapping += counts.overlapping;
                            }));
  MTC_RETURN_IF_ERROR(out.commit());
  describe(options, all, runs, briefTasks, report);
  return Status::okay();
}

} // namespace mtc::data
