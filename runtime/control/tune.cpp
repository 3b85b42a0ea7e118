//===- tune.cpp - what computes products fastest --------------------------===//

#include "mtc/runtime/tune.h"

#include "runtime/base/cores.h"
#include "runtime/base/file.h"
#include "runtime/base/output_files.h"
#include "runtime/control/bundle.h"
#include "runtime/device/cpu/gemm_tuner.h"
#include "runtime/device/cuda/gemm_product.h"
#include "runtime/device/cuda/gemm_tuner.h"
#include "runtime/device/tuned_products.h"

#include <cmath>
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

/// Products of bundles, of one kind of device.
struct Products {
  bool isForGpu = false;
  std::string first;       ///< bundle
  std::set<GemmInfo> rows; ///< of GPUs
  TuneRows cpuRows;
  std::string isa; ///< of CPUs
};

/// Threads that take turns on a core measure that, and no kernel.
Status checkThreads(const std::string &folder, int64_t threads) {
  if (threads <= usableCores())
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{}: expected at most {} threads a rank, as many as mtc "
                      "has cores here, found {}; tune on a machine with as "
                      "many, let mtc use more (taskset), or compile with fewer "
                      "--threads-per-rank",
                      folder, usableCores(), threads)};
}

Status addStage(const std::string &folder, const Descriptor &d, Products &out) {
  bool isFirst = out.first.empty();
  if (isFirst) {
    out.first = folder;
    out.isForGpu = d.isForGpu();
    out.isa = d.isa;
  }
  auto nameOf = [](bool isForGpu) { return isForGpu ? "GPUs" : "the CPU"; };
  if (out.isForGpu != d.isForGpu())
    return {StatusCode::usage,
            fmt::format("{}: expected a bundle for {}, as {} is, found one for "
                        "{}; a table has products of one kind: tune them one "
                        "after the other",
                        folder, nameOf(out.isForGpu), out.first,
                        nameOf(d.isForGpu()))};
  if (!d.isForGpu() && out.isa != d.isa)
    return {StatusCode::usage,
            fmt::format("{}: expected a bundle for {}, as {} is, found one for "
                        "{}; a table is of one instruction set: tune them one "
                        "after the other",
                        folder, out.isa, out.first, d.isa)};
  if (d.isForGpu()) {
    out.rows.insert(d.gemms.begin(), d.gemms.end());
    return Status::okay();
  }
  MTC_RETURN_IF_ERROR(checkThreads(folder, d.threads));
  addTuneRows(d.gemms, d.threads, out.cpuRows);
  return Status::okay();
}

Status addBundle(const std::string &folder, Products &out) {
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  for (const BundleProgram &stage : bundle.stages)
    MTC_RETURN_IF_ERROR(addStage(folder, stage.descriptor, out));
  return Status::okay();
}

/// Options that mean something for GPUs only.
Status checkCpuOptions(const TuneOptions &options) {
  const char *given = options.device       ? "--device"
                      : options.algorithms ? "--algorithms"
                                           : nullptr;
  if (!given)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{}: expected bundles for GPUs, found ones for the CPU; "
                      "leave it out, or compile with --target cuda:sm_90",
                      given)};
}

double operationsOf(int64_t m, int64_t n, int64_t k) {
  return 2e-6 * double(m) * double(n) * double(k);
}

void printLine(const std::string &line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void say(const GemmInfo &row, const cuda::TunedGemm &tuned) {
  printLine(fmt::format("{}: {:.1f} us, {:.0f} TFLOP/s; the first guess took "
                        "{:.2f} times as long",
                        cuda::describe(row), tuned.microseconds,
                        operationsOf(row.m, row.n, row.k) / tuned.microseconds,
                        tuned.firstMicroseconds / tuned.microseconds));
}

/// And for how many microbatches one packing would do, to take less time.
std::string packedText(const TunedProduct &tuned, double best) {
  if (!tuned.packed)
    return "";
  const auto [product, pack] = *tuned.packed;
  const double gain = kClearlyFaster * best - product;
  std::string pays = "does not pay";
  if (gain > 0)
    pays = fmt::format("pays if {:.0f} or more microbatches read it",
                       std::floor(pack / gain) + 1);
  return fmt::format(
      "; with b packed beforehand {:.1f} us, packing {:.1f} us, which {}",
      product, pack, pays);
}

const char *calledBy(GemmKernel kernel) {
  return isOwn(kernel)                        ? "own"
         : kernel == GemmKernel::innerProduct ? "oneDNN's inner_product"
                                              : "oneDNN";
}

/// What oneDNN's matmul and inner_product took.
std::string oneDnnText(const TunedProduct &tuned) {
  std::string text;
  for (GemmKernel by : {GemmKernel::library, GemmKernel::innerProduct})
    if (std::optional<double> took = tuned.microseconds(by))
      text +=
          fmt::format("{}{} {:.1f} us", text.empty() ? "" : ", ",
                      text.empty() ? calledBy(by) : "its inner_product", *took);
  return text.empty() ? "oneDNN has none that allocates nothing" : text;
}

void sayCpu(const CpuProduct &product, const TunedProduct &tuned) {
  const double best = *tuned.microseconds(tuned.kernel);
  printLine(fmt::format(
      "{}: own {:.1f} us, {}; by {}, {:.0f} GFLOP/s{}", describe(product),
      tuned.ownMicroseconds, oneDnnText(tuned), calledBy(tuned.kernel),
      1e3 * operationsOf(product.m, product.n, product.k) / best,
      packedText(tuned, best)));
}

Status tuneGpu(const TuneOptions &options, const Products &products,
               std::string &text) {
  cuda::GemmTable table;
  MTC_RETURN_IF_ERROR(cuda::tuneGemms(
      products.rows, {.chosen = options.device.value_or(0)},
      {options.algorithms.value_or(8), options.rounds},
      [&](const GemmInfo &row, const cuda::TunedGemm &tuned) {
        if (!options.quiet)
          say(row, tuned);
      },
      table));
  text = cuda::gemmTableText(table);
  return Status::okay();
}

Status tuneCpu(const TuneOptions &options, const Products &products,
               std::string &text) {
  MTC_RETURN_IF_ERROR(checkCpuOptions(options));
  CpuGemmTable table;
  TuneListener listener;
  listener.round = [&](int round) {
    if (!options.quiet)
      std::fputs(fmt::format("round {} of {}, {} products\n", round,
                             options.rounds, products.cpuRows.size())
                     .c_str(),
                 stderr);
  };
  listener.product = [&](const CpuProduct &product, const TunedProduct &tuned) {
    if (!options.quiet)
      sayCpu(product, tuned);
  };
  MTC_RETURN_IF_ERROR(tuneCpuGemms(products.cpuRows, products.isa,
                                   options.rounds, listener, table));
  text = cpuGemmTableText(table);
  return Status::okay();
}

} // namespace

Status tuneBundles(const TuneOptions &options) {
  MTC_RETURN_IF_ERROR(checkOutput(options));
  Products products;
  for (const std::string &bundle : options.bundles)
    MTC_RETURN_IF_ERROR(addBundle(bundle, products));
  std::string text;
  MTC_RETURN_IF_ERROR(products.isForGpu ? tuneGpu(options, products, text)
                                        : tuneCpu(options, products, text));
  return writeTextFile(options.file, text);
}

} // namespace mtc::runtime
