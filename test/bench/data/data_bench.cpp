//===- data_bench.cpp - how fast samples are read -------------------------===//
//
// data_bench FOLDER [MILLIONS of tokens] [seq]: makes a corpus of that size, of
// sequences of 1 to 1,200 tokens, its index, and a flat file of the same
// tokens, and times each; then reads all samples of an epoch in their shuffled
// order. Files are in the page cache, where they fit.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/indexed_writer.h"
#include "runtime/data/sources.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <random>

using namespace mtc::runtime;

namespace {

double seconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Status makeFiles(const std::string &prefix, int64_t tokens) {
  std::mt19937 draw(1);
  IndexedWriter writer;
  MTC_RETURN_IF_ERROR(IndexedWriter::create(prefix, TokenType::u16, writer));
  double began = seconds();
  std::vector<int32_t> sequence;
  while (writer.tokens() < tokens) {
    sequence.resize(1 + draw() % 1200);
    for (int32_t &token : sequence)
      token = static_cast<int32_t>(draw() % 50257);
    MTC_RETURN_IF_ERROR(writer.add(sequence));
    writer.endDocument();
  }
  MTC_RETURN_IF_ERROR(writer.commit());
  fmt::print("write       {:.3g} tokens/s, draws included\n",
             static_cast<double>(tokens) / (seconds() - began));
  std::error_code error;
  std::filesystem::copy_file(prefix + ".bin", prefix + ".flat", error);
  return Status::okay();
}

Status readAll(const char *what, const SourceRequest &request) {
  SourceFiles files;
  std::vector<std::string> notes;
  for (const char *state : {"made", "found"}) {
    double began = seconds();
    MTC_RETURN_IF_ERROR(prepareSource(request, {}, notes, files));
    fmt::print("{:11} index {} in {:.3f} s\n", what, state, seconds() - began);
  }
  std::unique_ptr<SampleSource> source;
  MTC_RETURN_IF_ERROR(openSource(files, 50257, source));
  double began = seconds();
  MTC_RETURN_IF_ERROR(source->check(0, source->samples(), {}));
  double all = static_cast<double>(source->samples() * request.seq);
  fmt::print("{:11} checked {:.3g} tokens/s\n", what,
             all / (seconds() - began));
  std::vector<int32_t> sample(static_cast<size_t>(request.seq + 1));
  began = seconds();
  for (int64_t k = 0; k < source->samples(); ++k)
    MTC_RETURN_IF_ERROR(source->read(k, sample.data()));
  fmt::print("{:11} read    {:.3g} tokens/s, {} samples of {}\n", what,
             all / (seconds() - began), source->samples(), request.seq);
  return Status::okay();
}

Status run(const std::string &folder, int64_t tokens, int64_t seq) {
  std::string prefix = folder + "/bench";
  MTC_RETURN_IF_ERROR(makeFiles(prefix, tokens));
  SourceRequest request;
  request.data = prefix;
  request.option = "--data";
  request.seq = seq;
  request.samples = tokens / seq / 2;
  request.seed = 1;
  MTC_RETURN_IF_ERROR(readAll("corpus", request));
  request.data = fmt::format("0.5 {0} 0.5 {0}", prefix);
  MTC_RETURN_IF_ERROR(readAll("blend", request));
  request.data = prefix + ".flat";
  return readAll("flat file", request);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  Status status = run(argv[1], (argc > 2 ? std::atoll(argv[2]) : 100) * 1000000,
                      argc > 3 ? std::atoll(argv[3]) : 1024);
  if (!status.ok())
    fmt::print(stderr, "{}\n", status.message());
  return static_cast<int>(status.code());
}
