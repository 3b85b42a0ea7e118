//===- checkpoint.cpp - any text as a checkpoint's manifest ---------------===//

#include "runtime/base/digest.h"
#include "runtime/checkpoint/manifest.h"

#include <cstdint>
#include <cstdlib>

using namespace mtc::runtime;

/// With the digest that it ought to have, which no mutation finds.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  text += ",\n \"digest\": \"" + std::string(32, '0') + "\"\n}\n";
  size_t at = text.size() - 36;
  text.replace(at, 32, digestOf(text));
  Manifest manifest, again;
  if (!parseManifest(text, "manifest.json", manifest).ok())
    return 0;
  // What was read is written, and read again.
  if (!parseManifest(textOf(manifest), "manifest.json", again).ok() ||
      textOf(again) != textOf(manifest))
    std::abort();
  return 0;
}
