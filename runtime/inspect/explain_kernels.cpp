//===- explain_kernels.cpp - what calls take at least on a GPU ------------===//

#include "mtc/runtime/gpu_chips.h"
#include "runtime/base/number_text.h"
#include "runtime/base/ptxas.h"
#include "runtime/inspect/elf_symbol.h"
#include "runtime/inspect/explain.h"
#include "runtime/inspect/kernels_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace mtc::runtime {
namespace {

using Assembled = std::map<std::string, AssembledEntry>;

/// Why a program's kernels cannot be assembled for the card; empty: they were.
std::string assembleFor(const BundleProgram &program, const GpuCard &card,
                        Assembled &entries) {
  const std::vector<std::string> names = gpuChipsOf(program.descriptor.device);
  const GpuChip *cardChip = gpuChipNamed(card.chip);
  const GpuChip *chip = gpuChipFor(names, cardChip ? cardChip->capability : 0);
  if (!chip)
    return fmt::format("unknown, {} is {} and the bundle for {}",
                       card.description, card.chip, describeGpusOf(names));
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    return "unknown, ptxas of the CUDA toolkit is not here";
  std::string ptx;
  if (Status status =
          readElfText(program.path, fmt::format("mtc_ptx_{}", chip->name), ptx);
      !status.ok())
    return "unknown, " + status.message();
  Assembly assembly;
  if (Status status = assemble(
          ptxas, ptx, std::string(chip->isAlone ? chip->name : card.chip),
          assembly);
      !status.ok())
    return "unknown, " + status.message();
  entries = std::move(assembly.entries);
  return "";
}

/// `assembled`: null where nobody knows registers.
Json toJson(const PlannedEntry &entry, const GpuCard &card,
            const AssembledEntry *assembled) {
  AssembledEntry known = assembled ? *assembled : AssembledEntry();
  auto threads = static_cast<int>(entry.threads);
  int64_t shared = entry.sharedBytes + known.sharedBytes;
  Json json = {
      {"name", entry.name},
      {"threads", entry.threads},
      {"shared_bytes", shared},
      {"registers", nullptr},
      {"blocks_of_a_multiprocessor",
       residentBlocks(card, threads, known.registers, shared)},
      {"occupancy", occupancy(card, threads, known.registers, shared)}};
  if (assembled) {
    json["registers"] = known.registers;
    json["spill_bytes"] = known.spillBytes;
  }
  return json;
}

Json toJson(const PlannedCalls &calls) {
  Json json = {{"op", calls.op},       {"name", calls.name},
               {"part", calls.part},   {"calls", calls.calls},
               {"unit", calls.unit},   {"flops", calls.flops},
               {"bytes", calls.bytes}, {"link_bytes", calls.linkBytes},
               {"intensity", nullptr}, {"seconds", calls.seconds},
               {"bound", calls.bound}};
  if (calls.bytes > 0)
    json["intensity"] = calls.flops / calls.bytes;
  return json;
}

std::string percent(const Json &part) {
  return part.is_null() ? "unknown"
                        : fmt::format("{:.1f} %", 100 * part.get<double>());
}

std::string callText(const Json &c) {
  auto part = c["part"].get<std::string>();
  std::string intensity =
      c["intensity"].is_null()
          ? "-"
          : fmt::format("{:.1f}", c["intensity"].get<double>());
  return shortLine(fmt::format(
      "{:>8} {:>5} {:>6} {:>6} {:>6}  {:<12}  {} {}{}",
      inMilliseconds(c["seconds"].get<double>()), c["calls"].get<int64_t>(),
      scaled(c["flops"].get<double>()),
      scaled(c["bytes"].get<double>() + c["link_bytes"].get<double>()),
      intensity, c["bound"].get<std::string>(), c["op"].get<std::string>(),
      c["name"].get<std::string>(), part.empty() ? "" : ", " + part));
}

std::string entryText(const Json &e) {
  std::string registers =
      e["registers"].is_null()
          ? "registers unknown"
          : fmt::format("{} registers", e["registers"].get<int64_t>());
  if (int64_t spilled = e.value("spill_bytes", int64_t{0}))
    registers += fmt::format(", {} bytes spilled", spilled);
  return shortLine(fmt::format(
      "          {}: {} threads, {} B shared, {}, occupancy {}{}",
      e["name"].get<std::string>(), e["threads"].get<int64_t>(),
      e["shared_bytes"].get<int64_t>(), registers,
      e["registers"].is_null() ? "at most " : "", percent(e["occupancy"])));
}

} // namespace

Status explainKernels(const Bundle &bundle, const std::string &card,
                      std::optional<int64_t> stage, bool registers,
                      Json &answer) {
  PlannedStage planned;
  MTC_RETURN_IF_ERROR(readKernels(bundle, card, stage, planned));
  const BundleProgram &program =
      bundle.stages[static_cast<size_t>(planned.stage)];
  answer = {{"model", program.descriptor.model},
            {"card", planned.card->description},
            {"stage", planned.stage},
            {"step_seconds", planned.stepSeconds},
            {"busy_seconds", planned.busySeconds},
            {"mfu", nullptr},
            {"calls", Json::array()}};
  if (planned.mfu)
    answer["mfu"] = *planned.mfu;
  Assembled assembled;
  std::string why;
  if (registers) {
    why = assembleFor(program, *planned.card, assembled);
    answer["registers"] =
        why.empty() ? fmt::format("by ptxas, for {}", planned.card->chip) : why;
  }
  std::ranges::stable_sort(planned.calls, [](const auto &a, const auto &b) {
    return a.seconds > b.seconds;
  });
  for (const PlannedCalls &calls : planned.calls) {
    Json json = toJson(calls);
    for (const PlannedEntry &entry : calls.entries)
      if (registers) {
        auto known = assembled.find(entry.name);
        json["entries"].push_back(
            toJson(entry, *planned.card,
                   known == assembled.end() ? nullptr : &known->second));
      }
    answer["calls"].push_back(std::move(json));
  }
  return Status::okay();
}

std::string kernelsText(const Json &answer) {
  std::string text = fmt::format(
      "{}, by the data sheet of {}: a step takes at least {} ms, its "
      "busiest "
      "stage\nworks {} ms; MFU at most {}\n",
      answer["model"].get<std::string>(), answer["card"].get<std::string>(),
      inMilliseconds(answer["step_seconds"].get<double>()),
      inMilliseconds(answer["busy_seconds"].get<double>()),
      percent(answer["mfu"]));
  if (answer.contains("registers"))
    text +=
        fmt::format("registers: {}\n", answer["registers"].get<std::string>());
  text += fmt::format("a rank of stage {}: calls of a step, longest first\n"
                      "{:>8} {:>5} {:>6} {:>6} {:>6}  {:<12}  {}\n",
                      answer["stage"].get<int64_t>(), "ms", "calls", "FLOP",
                      "bytes", "FLOP/B", "bound by", "what");
  for (const Json &calls : answer["calls"]) {
    text += callText(calls) + "\n";
    for (const Json &entry : calls.value("entries", Json::array()))
      text += entryText(entry) + "\n";
  }
  return text;
}

} // namespace mtc::runtime
