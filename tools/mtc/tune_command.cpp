//===- tune_command.cpp - mtc tune ----------------------------------------===//

#include "mtc/runtime/tune.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/numbers.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace mtc::tool {

void addTune(CLI::App &app, Action &action) {
  auto options = std::make_shared<runtime::TuneOptions>();
  CLI::App *sub = app.add_subcommand(
      "tune", "finds what computes the products of bundles fastest");
  sub->footer("examples:\n"
              "  mtc tune gpu.mtc -o h100.json\n"
              "  mtc run gpu.mtc --gemm-table h100.json --data tokens.bin\n"
              "  mtc tune cpu.mtc -o zen4.json\n"
              "  mtc compile gpt2-124m --gbs 4 --gemm-table zen4.json -o "
              "tuned.mtc");
  sub->add_option(
         "bundles", options->bundles,
         "folders that mtc compile wrote, all for GPUs or all for CPUs")
      ->required();
  sub->add_option("-o,--output", options->file,
                  "the table: for `mtc run --gemm-table`, this kind of GPU and "
                  "this version of cuBLASLt; or for `mtc compile "
                  "--gemm-table`, this processor and this version of oneDNN")
      ->required();
  auto number = [&](const char *flag, IntegerBounds bounds, auto &out,
                    const char *what) {
    addInteger(
        *sub, flag, bounds,
        [&out](int64_t value) { out = static_cast<int>(value); }, what);
  };
  number("--device", {0, INT32_MAX}, options->device,
         "of bundles for GPUs: the GPU, from 0; default: 0");
  number("--algorithms", {1, 1000}, options->algorithms,
         "of bundles for GPUs: of each product, the library's best guesses; "
         "default: 8");
  number("--rounds", {1, 1000}, options->rounds,
         "the median of which counts; default: 5");
  sub->add_flag("-q,--quiet", options->quiet, "no line for each product");
  sub->callback([options, &action] {
    action = [options] { return runtime::tuneBundles(*options); };
  });
}

} // namespace mtc::tool
