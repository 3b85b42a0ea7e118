//===- kernels_file.cpp - what report.json says of calls ------------------===//

#include "runtime/inspect/kernels_file.h"

#include "mtc/runtime/memory.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

PlannedCalls readCalls(FieldReader &in, const char *card) {
  PlannedCalls c;
  c.op = in.line("op");
  c.name = in.line("name");
  c.part = in.line("part");
  c.unit = in.line("unit");
  c.calls = in.integer("calls", 0, kHuge);
  c.flops = in.amount("flops");
  c.bytes = in.amount("bytes");
  c.linkBytes = in.amount("link_bytes");
  FieldReader floors = in.object("floor");
  FieldReader floor = floors.object(card);
  c.seconds = floor.amount("seconds");
  c.bound = floor.line("bound");
  if (in.has("entries"))
    for (FieldReader &each : in.objects("entries"))
      c.entries.push_back({each.line("name"), each.integer("threads", 1, 1024),
                           each.integer("shared_bytes", 0, 1 << 20)});
  return c;
}

/// The figures of a card: the one that reports have under its name.
void readCard(FieldReader &roofline, PlannedStage &out, int64_t stages) {
  for (FieldReader &each : roofline.objects("cards")) {
    if (each.line("card") != out.card->name)
      continue;
    out.busySeconds = each.amount("busy_seconds");
    out.stepSeconds = each.amount("step_seconds");
    if (auto mfu = each.amountOrNull("mfu"))
      out.mfu = *mfu;
    out.stage = each.integer("busiest_stage", 0, stages - 1);
    return;
  }
  roofline.problem(
      fmt::format("'cards': expected one with the name '{}'", out.card->name));
}

std::string cardNames() {
  std::string names;
  for (const GpuCard &card : kGpuCards)
    names.append(names.empty() ? "" : ", ").append(card.name);
  return names;
}

Status chooseCard(const Bundle &bundle, const std::string &name,
                  PlannedStage &out) {
  const std::string &device = bundle.stages.front().descriptor.device;
  if (device == "cpu")
    return {StatusCode::usage,
            "--kernels: expected a bundle for GPUs (mtc compile --target "
            "cuda:sm_90), found one for cpu"};
  out.card =
      name.empty() ? &gpuCardFor(gpuChipsOf(device)) : gpuCardNamed(name);
  if (!out.card)
    return {StatusCode::usage,
            fmt::format("--kernels: expected one of {}, or nothing for that "
                        "which the bundle is for, found '{}'",
                        cardNames(), name)};
  return Status::okay();
}

} // namespace

Status readKernels(const Bundle &bundle, const std::string &card,
                   std::optional<int64_t> stage, PlannedStage &out) {
  MTC_RETURN_IF_ERROR(chooseCard(bundle, card, out));
  auto stages = static_cast<int64_t>(bundle.stages.size());
  if (stage && (*stage < 0 || *stage >= stages))
    return {StatusCode::usage, fmt::format("--stage: expected one of 0 to {}, "
                                           "found {}",
                                           stages - 1, *stage)};
  std::string path = bundle.folder + "/report.json", text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader root(json, "", problems);
  if (!root.has("roofline"))
    return {
        StatusCode::inputRejected,
        fmt::format("'{}': expected the key 'roofline', found none; compile "
                    "the bundle again",
                    path)};
  if (std::string hash = root.line("plan_hash"); hash != bundle.planHash)
    root.problem(
        fmt::format("expected plan {}, found {}", bundle.planHash, hash));
  FieldReader roofline = root.object("roofline");
  readCard(roofline, out, stages);
  out.stage = stage.value_or(out.stage);
  std::vector<FieldReader> found = roofline.objects("stages");
  if (static_cast<int64_t>(found.size()) != stages)
    roofline.problem(
        fmt::format("expected {} stages, found {}", stages, found.size()));
  else
    for (FieldReader &each :
         found[static_cast<size_t>(out.stage)].objects("calls"))
      out.calls.push_back(readCalls(each, out.card->name.data()));
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
