//===- report_text.cpp - a report for people ------------------------------===//

#include "compiler/hosts.h"
#include "compiler/report.h"
#include "compiler/roofline.h"
#include "mtc/runtime/isa.h"

#include "runtime/base/messages.h"
#include "runtime/base/number_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

/// The items of a list as `T`, with a comma between two.
template <typename T> std::string listText(const Json &list) {
  return fmt::format("{}", fmt::join(list.get<std::vector<T>>(), ", "));
}

std::string traffic(const Json &json) {
  return fmt::format("{} calls, {}", json["calls"].get<int64_t>(),
                     runtime::sized(json["bytes"].get<int64_t>()));
}

/// What a rank keeps from step to step.
std::string stateText(const Json &state) {
  std::string text = fmt::format("  state        {}\n",
                                 runtime::sized(state["total"].get<int64_t>()));
  for (const auto &[name, bytes] : state.items())
    if (name != "total" && bytes != 0)
      text += fmt::format("    {:<16}{:>11} bytes\n", name,
                          runtime::grouped(bytes.get<int64_t>()));
  return text;
}

/// What of it no parameter needs.
std::string paddingText(const Json &padding) {
  if (padding["elements"] == 0)
    return "";
  return fmt::format("  padding      {} elements, {}\n",
                     runtime::grouped(padding["elements"].get<int64_t>()),
                     runtime::sized(padding["bytes"].get<int64_t>()));
}

/// Small models may take more with ZeRO-2 than without: gradients wait in whole
/// buckets.
std::string stagingText(const Json &bytes) {
  if (bytes.is_null())
    return ", and whole buckets of staging";
  return bytes == 0 ? ""
                    : fmt::format(", and {} of staging",
                                  runtime::sized(bytes.get<int64_t>()));
}

/// What it keeps of a parameter that replicas share, with each ZeRO stage.
std::string perParameterText(const Json &rows, int64_t zero) {
  std::string text;
  for (const Json &row : rows)
    text += fmt::format(
        "zero {}         {:g} bytes a parameter{}: {:g}, {:g} of gradients, "
        "{:g} of the optimizer{}{}\n",
        row["zero"].get<int64_t>(), row["total"].get<double>(),
        row["dtype"] == rows[0]["dtype"]
            ? ""
            : " of type " + row["dtype"].get<std::string>(),
        row["parameters"].get<double>(), row["gradients"].get<double>(),
        row["optimizer"].get<double>(), stagingText(row["staging_bytes"]),
        row["zero"] == zero ? " (this plan)" : "");
  return text;
}

/// What the GPU of a rank holds beside what is planned.
std::string besideText(const Json &stage) {
  if (!stage.contains("beside_plan"))
    return "";
  const Json &beside = stage["beside_plan"];
  auto bytes = [&](const char *key) {
    return runtime::sized(beside[key].get<int64_t>());
  };
  auto communicators = beside["communicators"].get<int64_t>();
  std::string text =
      fmt::format("  beside it    about {}, CUDA's context", bytes("total"));
  if (communicators > 0)
    text += fmt::format(" and {} for {} communicator{} of NCCL", bytes("nccl"),
                        communicators, communicators == 1 ? "" : "s");
  return text + "\n";
}

std::string stageText(const Json &stage) {
  std::string text = fmt::format(
      "stage {}, per rank\n  parameters   {}\n", stage["stage"].get<int64_t>(),
      runtime::grouped(stage["parameters"].get<int64_t>()));
  const Json &memory = stage["memory"];
  text += fmt::format("  memory       {}\n",
                      runtime::sized(memory["total"].get<int64_t>()));
  for (const auto &[name, bytes] : memory.items())
    if (name != "total")
      text += fmt::format("    {:<11}{:>16} bytes\n", name,
                          runtime::grouped(bytes.get<int64_t>()));
  text += besideText(stage);
  text += stateText(stage["state"]) + paddingText(stage["padding"]);
  for (const auto &[group, value] : stage["collectives"].items())
    text += fmt::format("  {:<12} {} a step\n", group, traffic(value));
  if (stage["sends"]["calls"] != 0)
    text += fmt::format("  sends        {} a step\n", traffic(stage["sends"]));
  return text;
}

} // namespace

/// Distinct products of all programs by a kernel, a key of productsReport.
static int64_t productsBy(const Json &r, const char *kernel) {
  return r["products"][kernel].get<int64_t>();
}

/// The compute type, and what the instruction set lacks for it.
static std::string typeText(const Json &r) {
  auto dtype = r["dtype"].get<std::string>();
  if (r["device"] != "cpu")
    return dtype;
  if (dtype == "fp16")
    return dtype + " (products of f16 values in f32)";
  auto isa = r["isa"].get<std::string>();
  if (dtype == "bf16" && !runtime::isaIncludes(isa, "x86-64-v4-bf16"))
    return dtype + " (products of bf16 values in f32)";
  return dtype;
}

/// By what the plan names, whichever rule or table chose it.
static std::string productsText(const Json &r) {
  int64_t own = productsBy(r, "own"), library = productsBy(r, "onednn"),
          packed = productsBy(r, "own_packed"),
          inner = productsBy(r, "onednn_inner_product");
  if (own + library == 0)
    return "";
  if (library == 0 && packed == 0)
    return "products       by kernels of our own\n";
  if (own == 0 && inner == 0)
    return "products       by oneDNN\n";
  auto part = [](int64_t count, const char *of) {
    return count > 0 ? fmt::format(", {} of them {}", count, of) : "";
  };
  return fmt::format(
      "products       {} by kernels of our own{}, {} by oneDNN{} "
      "(distinct ones, of all programs)\n",
      own, part(packed, "of weights packed once a step"), library,
      part(inner, "by its inner_product"));
}

/// Of a GPU, and the processor that launches for it.
static std::string targetText(const Json &r) {
  auto isa = r["isa"].get<std::string>();
  return r["device"] == "cpu"
             ? isa
             : fmt::format("{} (host {})", r["device"].get<std::string>(), isa);
}

static std::string ofInner(const Json &table) {
  const auto count = table["by_table_inner_product"].get<int64_t>();
  return count > 0 ? fmt::format(", {} of them by its inner_product", count)
                   : "";
}

/// Where ranks run nobody knows yet.
static std::string gemmTableText(const Json &table) {
  const auto file = table["file"].get<std::string>();
  if (table["by_table"] == 0)
    return fmt::format("table          {}: note: it has none of the plan's "
                       "products; all by the rule (gemm)\n",
                       file);
  std::string continued;
  if (table["continued"] != 0)
    continued = fmt::format(
        "               {} of those by it that oneDNN computes faster stay "
        "ours: a kernel can continue them (pointwise)\n",
        table["continued"].get<int64_t>());
  std::string packing;
  if (table["packing"] != 0)
    packing = fmt::format(
        "               {} of those by it take less time with their weight "
        "packed once a step (prepack)\n",
        table["packing"].get<int64_t>());
  return fmt::format(
      "table          {}: calls of products in code: {} by it, of which {} by "
      "oneDNN{}; {} by the rule (gemm)\n{}{}"
      "               measured on '{}'; that ranks run on such a processor is "
      "not checked\n",
      file, table["by_table"].get<int64_t>(),
      table["by_table_onednn"].get<int64_t>(), ofInner(table),
      table["by_rule"].get<int64_t>(), continued, packing,
      runtime::printable(table["processor"].get<std::string>()));
}

/// What holds for all of them: verify-plan found no cycle of waits, and each
/// read finds its value.
static std::string proofText(const Json &proof) {
  if (!proof.is_object())
    return "no (--no-verify)";
  std::string text;
  for (const auto &[name, count] : proof.items())
    text +=
        fmt::format("{} {}, ", runtime::grouped(count.get<int64_t>()), name);
  return text + "no cycle";
}

/// The first of the orders, which is enough to see what is meant.
static std::string sumOrderText(const Json &orders) {
  const Json &first = orders.front();
  return fmt::format(
      "sums           microbatches do not ascend (stage {} chunk {}: {}{}), so "
      "bits are those of this order alone\n",
      first["stage"].get<int64_t>(), first["chunk"].get<int64_t>(),
      listText<int64_t>(first["microbatches"]),
      orders.size() > 1 ? fmt::format("; {} more", orders.size() - 1) : "");
}

/// What ranks load, and what nobody could check without ptxas.
static std::string codeText(const Json &code) {
  std::string chips = listText<std::string>(code["chips"]);
  if (!code["assembled"].get<bool>())
    return fmt::format("code           PTX of {}, which the driver compiles "
                       "when a rank starts; ptxas did not look at it "
                       "(--cubin)\n",
                       chips);
  std::string text =
      fmt::format("code           PTX and cubins of {}\n", chips);
  for (const Json &entry : code["local_memory"])
    text += fmt::format(
        "warning: {} of stage {} keeps {} bytes of a thread in local memory "
        "on {}\n",
        entry["entry"].get<std::string>(), entry["stage"].get<int64_t>(),
        entry["bytes_of_a_thread"].get<int64_t>(),
        entry["chip"].get<std::string>());
  return text;
}

static std::string meshText(const Json &mesh) {
  std::string text;
  for (const auto &[axis, ranks] : mesh.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis,
                        ranks.is_string() ? ranks.get<std::string>()
                                          : ranks.dump());
  return text;
}

/// What each plan has.
static std::string headText(const Json &r) {
  return fmt::format("model          {}\n"
                     "plan           {}\n"
                     "ranks          {} ({}), {} distinct programs\n"
                     "target         {}, {}\n"
                     "parameters     {}\n"
                     "step           {} tokens\n"
                     "p2p            {} a step, all ranks\n",
                     r["model"].get<std::string>(),
                     r["plan_hash"].get<std::string>(),
                     r["ranks"].get<int64_t>(), meshText(r["mesh"]),
                     r["programs"].get<int64_t>(), targetText(r), typeText(r),
                     runtime::grouped(r["total_parameters"].get<int64_t>()),
                     runtime::grouped(r["tokens_per_step"].get<int64_t>()),
                     runtime::sized(r["total_p2p_bytes"].get<int64_t>()));
}

/// Steps of several shapes, where a plan has them.
static std::string shapesText(const Json &r) {
  std::string text;
  if (const Json lengths = r.value("seq_lengths", Json::array());
      lengths.size() > 1)
    text += fmt::format("lengths        {} tokens a sample; figures are of the "
                        "first\n",
                        listText<int64_t>(lengths));
  if (const Json batches = r.value("global_batches", Json::array());
      batches.size() > 1)
    text += fmt::format("batches        {} samples a step; figures are of the "
                        "first\n",
                        listText<int64_t>(batches));
  return text;
}

/// What the strategy chose, where it is not the plain way.
static std::string choicesText(const Json &r) {
  std::string text;
  if (r.value("sequence_parallel", false))
    text += "sequence       split over tp (sequence_parallel)\n";
  if (std::string recompute = r.value("recompute", "none"); recompute != "none")
    text += fmt::format("recompute      {}\n", recompute);
  if (const Json overlap = r.value("overlap", Json::array()); !overlap.empty())
    text += fmt::format("overlap        {}\n", listText<std::string>(overlap));
  if (const Json names = r.value("gemm_epilogues", Json::array());
      !names.empty())
    text += fmt::format("epilogues      {}\n", listText<std::string>(names));
  if (r.contains("products"))
    text += productsText(r);
  if (r.contains("gemm_table"))
    text += gemmTableText(r["gemm_table"]);
  if (r.value("comm_thread", false))
    text += "collectives    on a thread of their own (comm_thread)\n";
  return text;
}

/// What the order of microbatches costs and means.
static std::string scheduleText(const Json &r) {
  std::string text;
  if (r.contains("bubble_fraction"))
    text += fmt::format("bubble         {:.1f} % (by operations)\n",
                        100 * r["bubble_fraction"].get<double>());
  if (r.contains("sum_orders"))
    text += sumOrderText(r["sum_orders"]);
  return text;
}

std::string reportText(const Json &r) {
  std::string text = headText(r) + shapesText(r);
  if (r.contains("code"))
    text += codeText(r["code"]);
  text += choicesText(r) + scheduleText(r);
  text += perParameterText(r["bytes_per_parameter"], r["zero"].get<int64_t>());
  if (r.contains("hosts"))
    text += hostsText(r["hosts"]);
  text += fmt::format("verified       {}\n", proofText(r["verified"]));
  for (const Json &stage : r["stages"])
    text += stageText(stage);
  if (r.contains("roofline"))
    text += rooflineText(r["roofline"]);
  return text;
}

} // namespace mtc::compiler
