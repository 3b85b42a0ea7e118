//===- indexed_dataset.cpp - any bytes as .idx and .bin -------------------===//
//
// The first two bytes are the size of the .bin, which the rest begins with; the
// .idx is what is left. What is accepted is read as samples.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/indexed_writer.h"
#include "runtime/data/sources.h"
#include "test/fuzz/corpus_files.h"

using namespace mtc::runtime;

namespace {

void readSamples(const std::string &prefix, int64_t seq) {
  SourceRequest request;
  request.data = prefix;
  request.option = "--data";
  request.seq = seq;
  request.samples = 20;
  request.cache = mtc::fuzz::folder() + "/indices";
  SourceFiles files;
  std::vector<std::string> notes;
  std::unique_ptr<SampleSource> source;
  if (!prepareSource(request, {}, notes, files).ok() ||
      !openSource(files, 1000, source).ok())
    return;
  std::vector<int32_t> sample(static_cast<size_t>(seq + 1)), starts;
  for (int64_t k = 0; k < 20; ++k) {
    (void)source->read(k, sample.data());
    (void)source->documentStarts(k, starts);
  }
  (void)source->check(0, 20, {});
  std::filesystem::remove_all(request.cache);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  if (size < 2)
    return 0;
  size_t bin = std::min<size_t>(data[0] | data[1] << 8, size - 2);
  mtc::fuzz::write("set.bin", text.substr(2, bin));
  mtc::fuzz::write("set.idx", text.substr(2 + bin));
  std::string prefix = mtc::fuzz::folder() + "/set";
  IndexedDataset set;
  IndexedSummary summary;
  if (!IndexedDataset::open(prefix, set).ok() || !set.check(summary, true).ok())
    return 0;
  // A corpus that is whole is written again, to the byte.
  IndexedWriter writer;
  if (!set.hasModes() &&
      IndexedWriter::create(prefix + "2", set.type(), writer).ok() &&
      writer.append(set).ok() && !writer.commit().ok())
    std::abort();
  readSamples(prefix, 3);
  return 0;
}
