//===- tune.cpp - which algorithms of products are fastest ----------------===//

#include "mtc/runtime/tune.h"

#include "runtime/base/file.h"
#include "runtime/base/output_files.h"
#include "runtime/control/bundle.h"
#include "runtime/device/cuda/gemm_product.h"
#include "runtime/device/cuda/gemm_tuner.h"

#include <cstdio>
#include <set>

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

Status checkOutput(const TuneOptions &options) {
  for (const std::string &bundle : options.bundles) {
    CommandFiles files;
    files.bundle = bundle;
    files.outputs = {{"-o", options.file}};
    MTC_RETURN_IF_ERROR(checkFiles(files));
  }
  return checkWritable(options.file);
}

Status addProducts(const std::string &folder, std::set<GemmInfo> &out) {
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  for (const BundleProgram &stage : bundle.stages) {
    if (!stage.descriptor.isForGpu())
      return {StatusCode::usage,
              fmt::format("{}: expected a bundle for GPUs, found one for the "
                          "CPU; compile it with --target cuda:sm_90",
                          folder)};
    out.insert(stage.descriptor.gemms.begin(), stage.descriptor.gemms.end());
  }
  return Status::okay();
}

void say(const GemmInfo &row, const cuda::TunedGemm &tuned) {
  const double operations =
      2e-6 * double(row.m) * double(row.n) * double(row.k);
  std::fputs(fmt::format("{}: {:.1f} us, {:.0f} TFLOP/s; the first guess took "
                         "{:.2f} times as long\n",
                         cuda::describe(row), tuned.microseconds,
                         operations / tuned.microseconds,
                         tuned.firstMicroseconds / tuned.microseconds)
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

} // namespace

Status tuneBundles(const TuneOptions &options) {
  MTC_RETURN_IF_ERROR(checkOutput(options));
  std::set<GemmInfo> rows;
  for (const std::string &bundle : options.bundles)
    MTC_RETURN_IF_ERROR(addProducts(bundle, rows));
  cuda::GemmTable table;
  MTC_RETURN_IF_ERROR(cuda::tuneGemms(
      rows, {.chosen = options.device}, {options.algorithms, options.rounds},
      [&](const GemmInfo &row, const cuda::TunedGemm &tuned) {
        if (!options.quiet)
          say(row, tuned);
      },
      table));
  return writeTextFile(options.file, cuda::gemmTableText(table));
}

} // namespace mtc::runtime
