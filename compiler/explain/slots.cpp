//===- slots.cpp - which slots of pools are in use, row by row ------------===//

#include "compiler/explain/slots.h"

#include "mtc/runtime/memory.h"

namespace mtc::compiler {
namespace {

class SlotReader {
public:
  SlotReader(const ProgramPlan &program, const PoolPlaces &pools)
      : program(program), pools(pools) {}

  void row(int64_t index, const MtcStep &row) {
    if (row.microbatch >= 0)
      for (int64_t pool = 0; pool < program.descriptor.pools; ++pool)
        // A stage may count slots of a pool of which it has no bytes.
        if (int32_t slot = program.slots[row.slots + pool];
            slot >= 0 && pools.count(static_cast<MtcPool>(pool)))
          touch(static_cast<MtcPool>(pool), slot, row.microbatch, row.chunk,
                index);
    for (const MtcTransfer &transfer : program.transfersOf(row))
      moved(transfer, index);
  }

  std::vector<SlotUse> uses;

private:
  /// A transfer names bytes: the slot of the pool that they lie in.
  void moved(const MtcTransfer &transfer, int64_t index) {
    int64_t microbatch =
        transfer.tag & ((int64_t(1) << Tag::kMicrobatchBits) - 1);
    for (auto [pool, place] : pools)
      if (std::optional<CrossingEnd> end = crossingEnd(pool);
          end && end->sends == (transfer.is_send != 0) && place.stride > 0) {
        int64_t slot = (transfer.offset - place.base) / place.stride;
        auto it = open.find({pool, slot});
        bool isHere = transfer.offset >= place.base &&
                      (transfer.offset - place.base) % place.stride == 0;
        // What arrives begins a use of a slot that the row of its reader names.
        if (isHere && (end->sends ? it != open.end() : isSlot(pool, slot)))
          touch(pool, slot, microbatch, /*chunk=*/-1, index);
      }
  }

  /// Whether rows name this slot, which is how many a pool has.
  bool isSlot(MtcPool pool, int64_t slot) {
    if (counts.empty())
      countSlots();
    return slot < counts[pool];
  }
  void countSlots() {
    counts.resize(program.descriptor.pools);
    for (size_t i = 0; i < program.slots.size(); ++i) {
      int64_t &count = counts[i % counts.size()];
      count = std::max<int64_t>(count, program.slots[i] + 1);
    }
  }

  void touch(MtcPool pool, int64_t slot, int64_t microbatch, int64_t chunk,
             int64_t index) {
    auto [it, isNew] = open.try_emplace({pool, slot}, Open{});
    Open &now = it->second;
    bool same = !isNew && uses[now.use].microbatch == microbatch &&
                (now.chunk < 0 || chunk < 0 || now.chunk == chunk);
    if (!same) {
      now = {uses.size(), chunk};
      uses.push_back({pool, slot, microbatch, index, index});
    }
    uses[now.use].last = index;
    if (chunk >= 0)
      now.chunk = chunk;
  }

  struct Open {
    size_t use = 0;
    int64_t chunk = -1;
  };
  const ProgramPlan &program;
  const PoolPlaces &pools;
  std::map<std::pair<MtcPool, int64_t>, Open> open;
  std::vector<int64_t> counts; ///< slots by pool
};

} // namespace

std::vector<SlotUse> slotUses(const ProgramPlan &program,
                              const PlanTimeline &timeline,
                              const PoolPlaces &pools) {
  SlotReader reader(program, pools);
  for (size_t i = 0; i < timeline.rows.size(); ++i)
    reader.row(static_cast<int64_t>(i), timeline.rows[i]);
  return std::move(reader.uses);
}

} // namespace mtc::compiler
