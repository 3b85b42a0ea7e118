//===- index_file.cpp - any bytes as a cached index -----------------------===//

#include "runtime/data/index_file.h"
#include "test/fuzz/corpus_files.h"

using namespace mtc::runtime;

/// The digest of a header, which no mutation finds, is made right for half of
/// the inputs.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  const std::string key(32, 'k');
  if (size > 112 && data[size - 1] % 2 == 0) {
    size_t arrays = data[12] % 5, head = 112 + 16 * arrays;
    bytes.replace(0, 12, std::string("mtcindex\1\0\0\0", 12));
    bytes.replace(13, 3, std::string(3, '\0'));
    bytes[12] = static_cast<char>(arrays);
    bytes.replace(16, 32, key);
    if (bytes.size() >= head)
      bytes.replace(head - 32, 32, digestOf(bytes.substr(0, head - 32)));
  }
  IndexFile index;
  if (!IndexFile::open(mtc::fuzz::write("index", bytes), key, index).ok())
    return 0;
  (void)index.verify();
  int64_t values[16];
  for (size_t array = 0; array < index.arrays(); ++array)
    for (int64_t first :
         {int64_t{0}, index.count(array) - 3, INT64_MAX, int64_t{-1}})
      (void)index.read(array, first, 16, values);
  return 0;
}
