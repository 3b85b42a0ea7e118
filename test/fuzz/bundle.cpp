//===- bundle.cpp - any bytes as a bundle of one program ------------------===//

#include "runtime/control/bundle.h"
#include "mtc/runtime/run.h"
#include "runtime/base/digest.h"
#include "test/fuzz/corpus_files.h"

using namespace mtc::runtime;

/// Two bytes say how long the manifest is; the rest is the program, an ELF file
/// with a descriptor. "@" in the manifest is the digest of the program.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data + 2), size - 2);
  size_t length = std::min<size_t>(data[0] + 256 * data[1], bytes.size());
  std::string manifest = bytes.substr(0, length),
              program = bytes.substr(length);
  if (size_t at = manifest.find('@'); at != std::string::npos)
    manifest.replace(at, 1, digestOf(program));
  mtc::fuzz::write("manifest.json", manifest);
  mtc::fuzz::write("program", program);
  for (ProgramForm form : {ProgramForm::shared, ProgramForm::executable}) {
    Bundle bundle;
    (void)openBundle(mtc::fuzz::folder(), form, bundle);
  }
  std::string text;
  (void)inspectProgram(mtc::fuzz::folder() + "/program", text);
  return 0;
}
