//===- gpu_assembly.cpp - cubins whose values are in registers ------------===//

#include "compiler/gpu_assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

using namespace mtc;
using namespace mtc::compiler;
using runtime::AssembledEntry;
using runtime::Status;

namespace {

/// Of a multiprocessor of every architecture there is code for: its registers,
/// and the threads and blocks that each of them has room for.
constexpr int64_t kRegisters = 64 * 1024, kThreads = 1536, kBlocks = 16;
/// A warp gets registers of a thread in steps of this.
constexpr int64_t kStep = 8;
/// Of a thread, rounded up to a step.
constexpr int64_t kMostOfAThread = 256;

/// The line of an entry that says the threads of its block.
struct BlockLine {
  size_t end = std::string::npos; ///< behind it; npos: there is none
  int64_t threads = 0;
};

BlockLine findBlockLine(const std::string &ptx, const std::string &entry) {
  constexpr std::string_view kSize = "\n.reqntid ";
  size_t head = ptx.find(".entry " + entry + "(");
  size_t body = ptx.find("\n{", head);
  size_t line = ptx.find(kSize, head);
  if (body == std::string::npos || line >= body)
    return {};
  BlockLine found;
  found.end = ptx.find('\n', line + 1) + 1;
  std::from_chars(ptx.data() + line + kSize.size(), ptx.data() + found.end,
                  found.threads);
  return found;
}

/// The most blocks for which threads that have `registers` may have more; 0:
/// they may not.
int64_t blocksForMore(int64_t threads, int64_t registers) {
  int64_t more = (registers + kStep - 1) / kStep * kStep + kStep;
  if (threads == 0 || more > kMostOfAThread)
    return 0;
  return std::min({kRegisters / (threads * more), kThreads / threads, kBlocks});
}

/// Has entries that spill ask for fewer blocks. Whether any is to be assembled
/// again.
bool askForFewer(const std::string &ptx,
                 const std::map<std::string, AssembledEntry> &entries,
                 EntryBlocks &blocks) {
  bool isOther = false;
  for (const auto &[name, entry] : entries) {
    if (entry.spillBytes == 0)
      continue;
    int64_t fewer =
        blocksForMore(findBlockLine(ptx, name).threads, entry.registers);
    auto [asked, isFirst] = blocks.try_emplace(name, fewer);
    isOther |= isFirst ? fewer > 0 : asked->second > 0;
    if (!isFirst)
      asked->second = std::clamp<int64_t>(asked->second - 1, 0, fewer);
  }
  return isOther;
}

} // namespace

std::string compiler::withBlocks(const std::string &ptx,
                                 const EntryBlocks &blocks) {
  std::string text = ptx;
  for (const auto &[name, count] : blocks)
    if (BlockLine line = findBlockLine(text, name);
        count > 0 && line.end != std::string::npos)
      text.insert(line.end, fmt::format(".minnctapersm {}\n", count));
  return text;
}

Status
compiler::assembleGpuCode(const std::string &ptxas, codegen::GpuCode &code,
                          std::map<std::string, AssembledEntry> &entries) {
  const std::string asEmitted = code.ptx;
  EntryBlocks blocks;
  runtime::Assembly made;
  do {
    code.ptx = withBlocks(asEmitted, blocks);
    MTC_RETURN_IF_ERROR(runtime::assemble(ptxas, code.ptx, code.chip, made));
  } while (askForFewer(asEmitted, made.entries, blocks));
  code.cubin = std::move(made.cubin);
  entries = std::move(made.entries);
  for (const auto &[name, entry] : entries)
    if (entry.spillBytes > 0 || entry.stackBytes > 0)
      code.localBytes[name] = std::max(entry.spillBytes, entry.stackBytes);
  return Status::okay();
}
