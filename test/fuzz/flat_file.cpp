//===- flat_file.cpp - any bytes as llm.c's .bin or raw tokens ------------===//

#include "runtime/data/flat_samples.h"
#include "test/fuzz/corpus_files.h"

using namespace mtc::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A header is 1,024 bytes, of which twelve count.
  std::string bytes(reinterpret_cast<const char *>(data), size);
  if (size > 12 && data[size - 1] % 2 == 0)
    bytes.insert(12, 1012, '\0');
  std::string path = mtc::fuzz::write("flat", bytes);
  for (TokenType type : {TokenType::u8, TokenType::u16, TokenType::i32}) {
    FlatTokens tokens;
    FlatSamples samples;
    int32_t sample[4];
    if (!lookAtFlatFile(path, type, tokens).ok() ||
        !FlatSamples::open(tokens, 3, 1000, 1, false, samples).ok())
      continue;
    (void)samples.read(samples.samples() - 1, sample);
    (void)samples.check(0, samples.samples(), {});
  }
  return 0;
}
