//===- plans.cpp - compiled plans, as IR that can be taken apart ----------===//
#include "plans.h"

#include "compiler/compile.h"
#include "compiler/run_phase.h"
#include "mtc/runtime/isa.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

using mtc::runtime::Status;

namespace mtc::test {
namespace {

constexpr const char *kSpec = R"(
name = "tiny"
vocab = 30
padded_vocab = 32
layers = 2
hidden = 16
heads = 4
ffn = 32
max_seq = 8
positions = "learned"
tied = {}

[norm]
kind = "{}"
placement = "pre"
eps = 1e-5

[mlp]
kind = "gelu"
bias = true

[attention]
qkv = "{}"
bias = true
causal = true

[dropout]
embedding = 0.1
attention = 0.1
hidden = 0.1

[init]
std = 0.02
scaled_output = true
)";

/// The instruction set that computes in bf16 here; empty: none.
std::string isaOfBf16() {
  for (const char *isa : {"x86-64-v4-amx", "x86-64-v4-bf16", "x86-64-v4"})
    if (runtime::processorHas(isa))
      return isa;
  return "";
}

} // namespace

std::vector<PlanRequest> planRequests() {
  std::vector<PlanRequest> requests;
  PlanRequest &sharded = requests.emplace_back();
  sharded.name = "tp2-dp2-zero1";
  sharded.strategy = {{"tp", "2"}, {"dp", "2"}, {"zero", "1"}};
  PlanRequest &stages = requests.emplace_back();
  stages.name = "pp2-dp2-separate-rms";
  stages.norm = "rms_norm";
  stages.qkv = "separate";
  stages.strategy = {{"pp", "2"}, {"dp", "2"}, {"zero", "0"}};
  if (!isaOfBf16().empty()) {
    PlanRequest &narrow = requests.emplace_back();
    narrow.name = "tp2-dp2-bf16-untied";
    narrow.tied = false;
    narrow.strategy = {
        {"tp", "2"}, {"dp", "2"}, {"zero", "1"}, {"dtype", "bf16"}};
    PlanRequest &sums = requests.emplace_back();
    sums.name = "dp2-zero1-bf16-sums";
    sums.strategy = {
        {"dp", "2"}, {"zero", "1"}, {"dtype", "bf16"}, {"grad-dtype", "bf16"}};
  }
  PlanRequest &scaled = requests.emplace_back();
  scaled.name = "dp2-zero1-fp16-sums";
  scaled.strategy = {
      {"dp", "2"}, {"zero", "1"}, {"dtype", "fp16"}, {"grad-dtype", "fp16"}};
  // Two pieces of queries; and one fused tensor.
  const std::vector<models::StrategyOption> ofDocuments = {
      {"mask-document-ends", "true"},
      {"reset-positions", "true"},
      {"reset-attention", "true"}};
  for (const char *axis : {"cp", "tp"}) {
    PlanRequest &documents = requests.emplace_back();
    documents.name = std::string(axis) + "2-documents";
    documents.strategy = ofDocuments;
    documents.strategy.emplace_back(axis, "2");
  }
  PlanRequest &packed = requests.emplace_back();
  packed.name = "tp2-packed-weights";
  packed.strategy = {{"tp", "2"}, {"prepack", "always"}};
  if (const char *file = std::getenv("MTC_EFFECTS_IR")) {
    PlanRequest &given = requests.emplace_back();
    given.name = given.file = file;
  }
  return requests;
}

/// Compiles the request's model to a file.
static Status compilePlan(const PlanRequest &request, const std::string &folder,
                          std::string &file) {
  compiler::CompileOptions options;
  options.input = folder + "/spec.toml";
  std::ofstream(options.input)
      << fmt::format(kSpec, request.tied, request.norm, request.qkv);
  options.strategy = request.strategy;
  options.strategy.emplace_back("micro-batch-size", "1");
  options.strategy.emplace_back("global-batch-size", "4");
  options.isa = isaOfBf16(); // of all plans: a process has one
  options.to = passes::Phase::planMemory;
  options.verify = false; // the verifier believes the same declarations
  options.output = file = folder + "/plan.mlir";
  compiler::CompileResult result;
  return compiler::compile(options, result);
}

Status makePlan(const PlanRequest &request, const std::string &folder,
                mlir::MLIRContext &context,
                mlir::OwningOpRef<mlir::ModuleOp> &module) {
  std::string file = request.file;
  if (file.empty())
    MTC_RETURN_IF_ERROR(compilePlan(request, folder, file));
  compiler::DiagnosticLog log(context);
  std::optional<passes::Phase> phase;
  return compiler::parseModule(file, context, log, module, phase);
}

} // namespace mtc::test
