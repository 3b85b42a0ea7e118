//===- safetensors.cpp - any bytes as a file of tensors -------------------===//

#include "runtime/base/safetensors.h"
#include "test/fuzz/corpus_files.h"

#include <algorithm>
#include <cstring>

using namespace mtc::runtime;

/// The length of the header, which few mutations leave right, is made right for
/// half of the inputs.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  size_t end = bytes.rfind('}');
  if (size > 8 && data[size - 1] % 2 == 0 && end != std::string::npos &&
      end >= 8) {
    uint64_t header = end + 1 - 8;
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  SafetensorsFile file;
  if (!SafetensorsFile::open(mtc::fuzz::write("tensors", bytes), file).ok())
    return 0;
  for (const TensorInfo &tensor : file.tensors()) {
    char read[64];
    int64_t some = std::min<int64_t>(tensor.bytes, sizeof read);
    if (file.find(tensor.name) != &tensor ||
        !file.read(tensor, tensor.bytes - some, read, some).ok())
      std::abort(); // an open file has what it names
  }
  return 0;
}
