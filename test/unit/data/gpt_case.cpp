//===- gpt_case.cpp - an index as a line of text --------------------------===//

#include "test/unit/data/gpt_case.h"

#include "runtime/data/indexed_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace mtc::runtime::test {
namespace {

class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

private:
  uint64_t state_;
};

bool parseCorpus(std::string text, GptCase::CorpusText &out) {
  std::ranges::replace(text, ':', ' ');
  std::istringstream in(text);
  std::string type;
  if (!(in >> out.sequences >> out.seed >> out.longest >> type))
    return false;
  out.type = tokenTypeNamed(type)->type;
  return true;
}

void addNumbers(std::string &bytes, const std::vector<int64_t> &values) {
  bytes.append(reinterpret_cast<const char *>(values.data()),
               8 * values.size());
}

Status addArrays(const std::string &file, const std::string &key,
                 std::string &bytes) {
  IndexFile index;
  MTC_RETURN_IF_ERROR(IndexFile::open(file, key, index));
  MTC_RETURN_IF_ERROR(index.verify());
  for (size_t array = 0; array < index.arrays(); ++array) {
    std::vector<int64_t> values(static_cast<size_t>(index.count(array)));
    MTC_RETURN_IF_ERROR(
        index.read(array, 0, index.count(array), values.data()));
    addNumbers(bytes, values);
  }
  return Status::okay();
}

} // namespace

bool parseCase(const std::string &line, GptCase &out) {
  std::istringstream in(line);
  if (!(in >> out.seq >> out.samples >> out.seed >> out.split >> out.part >>
        out.weights))
    return false;
  for (std::string word; in >> word;)
    if (word.find(':') == std::string::npos)
      out.digest = word;
    else if (!parseCorpus(word, out.corpora.emplace_back()))
      return false;
  return !out.corpora.empty();
}

Status writeCorpora(const GptCase &c, const std::string &folder) {
  for (size_t i = 0; i < c.corpora.size(); ++i) {
    const GptCase::CorpusText &corpus = c.corpora[i];
    IndexedWriter writer;
    MTC_RETURN_IF_ERROR(IndexedWriter::create(fmt::format("{}/{}", folder, i),
                                              corpus.type, writer));
    SplitMix draw(corpus.seed);
    std::vector<int32_t> tokens;
    for (int64_t s = 0; s < corpus.sequences; ++s) {
      tokens.resize(draw() % static_cast<uint64_t>(corpus.longest + 1));
      for (int32_t &token : tokens)
        token = static_cast<int32_t>(draw() % 60000);
      MTC_RETURN_IF_ERROR(writer.add(tokens));
      if (draw() % 3 > 0) // some documents have several sequences
        writer.endDocument();
    }
    MTC_RETURN_IF_ERROR(writer.commit());
  }
  return Status::okay();
}

Status digestOfCase(const GptCase &c, const std::string &folder,
                    std::string &digest) {
  SourceRequest request;
  std::string weights = c.weights;
  std::ranges::replace(weights, ',', ' ');
  std::istringstream in(weights);
  for (size_t i = 0; i < c.corpora.size(); ++i) {
    std::string weight;
    if (c.weights != "-")
      in >> weight;
    request.data += fmt::format(" {} {}/{}", weight, folder, i);
  }
  if (c.corpora.size() == 1 && c.weights == "-")
    request.data = folder + "/0";
  request.option = "--data";
  request.split = c.split;
  auto part = std::ranges::find(kSplitPartNames, c.part,
                                [](const char *p) { return std::string(p); });
  request.part = static_cast<SplitPart>(part - std::begin(kSplitPartNames));
  request.seq = c.seq;
  request.samples = c.samples;
  request.seed = c.seed;
  std::vector<std::string> notes;
  SourceFiles files;
  MTC_RETURN_IF_ERROR(prepareSource(request, {}, notes, files));
  std::string bytes;
  for (const GptSamples::Files &corpus : files.corpora)
    MTC_RETURN_IF_ERROR(addArrays(corpus.index, corpus.key, bytes));
  if (!files.blend.empty())
    MTC_RETURN_IF_ERROR(addArrays(files.blend, files.blendKey, bytes));
  std::unique_ptr<SampleSource> source;
  MTC_RETURN_IF_ERROR(openSource(files, 60000, source));
  int64_t first = std::min<int64_t>(4, source->samples());
  MTC_RETURN_IF_ERROR(source->check(0, first, {}));
  std::vector<int32_t> sample(static_cast<size_t>(c.seq + 1));
  for (int64_t k = 0; k < first; ++k) {
    MTC_RETURN_IF_ERROR(source->read(k, sample.data()));
    addNumbers(bytes, {sample.begin(), sample.end()});
  }
  digest = digestOf(bytes);
  return Status::okay();
}

} // namespace mtc::runtime::test
