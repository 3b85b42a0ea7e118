//===- machine.cpp - can the ranks wait for each other --------------------===//
//
// All ranks of a stage run the same program wherever they stand on the other
// axes of the mesh, and a transfer and an embedding group keep those
// coordinates. So one rank per stage tells whether the plan is sound:
//   * Members along other axes issue the same collectives, having one program;
//     what stages owe each other is the same at every coordinate.
//   * Forget the coordinates, and a wait-for cycle stays one. A cycle
//     of such stages is one of ranks too: those of one coordinate, as every
//     collective of a rank has that rank as a member.
//
// One step tells it as well. Where everything has its partner within a step,
// the k-th of each channel and communicator of a second step does too, so a
// rank waits for others in its own step or for its own past: no cycle leaves a
// step.
//
// Only a plan that is not sound is looked at again, for the words of its
// findings: with at most two ranks along every axis but pp, so that groups have
// a second member, which shows whatever a hundredth would.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/machine.h"
#include "passes/pipeline/schedules/waitfor.h"
#include "passes/verify/checks.h"

#include "llvm/ADT/StringMap.h"

#include <set>

using namespace mlir;
using mtc::schedules::Machine;
using mtc::schedules::MachineItem;

namespace mtc::passes::verify {
namespace {

schedules::Part partOf(const Row &exchange) {
  return exchange.posts()   ? schedules::Part::Post
         : exchange.waits() ? schedules::Part::Wait
                            : schedules::Part::Whole;
}

/// With at most `most` ranks along every axis but pp, and along tp at most so
/// many groups of ranks that share heads, each of at most so many.
Mesh smaller(Mesh mesh, int64_t most) {
  int64_t sharing = std::min(mesh.kvRanks(), most);
  int64_t groups = std::min(mesh[MTC_AXIS_TP] / mesh.kvRanks(), most);
  for (const AxisInfo &axis : kAxes)
    if (axis.id != MTC_AXIS_PP)
      mesh[axis.id] = std::min(mesh[axis.id], most);
  mesh[MTC_AXIS_TP] = groups * sharing;
  mesh.setKvRanks(sharing);
  return mesh;
}

class MachineChecker {
public:
  /// On a smaller mesh (`smaller`).
  MachineChecker(const Model &model, StringRef entry, Report &report,
                 int64_t replicas)
      : model(model), entry(entry), report(report),
        mesh(smaller(model.mesh, replicas)) {
    makeCommunicators();
  }

  /// Whether there is nothing to report.
  bool isSound() {
    quiet = true;
    for (const Stage &stage : model.stages)
      addStage(stage);
    if (rejected)
      return false;
    schedules::Matching matching = schedules::matchMachine(machine);
    return matching.complete && matching.findings.empty() &&
           schedules::analyseWaits(machine, matching).acyclic;
  }

  void check() {
    int64_t before = report.size();
    for (const Stage &stage : model.stages)
      addStage(stage);
    schedules::Matching matching = schedules::matchMachine(machine);
    compareCollectives(matching);
    compareTransfers(matching);
    // What has a place was reported there; the rest is about whole programs.
    std::set<std::string> located{"collective-order", "collective-size",
                                  "collective-type", "pair-order", "pair-size"};
    for (const schedules::Finding &finding : matching.findings)
      if (finding.item >= 0)
        atItem(finding);
      else if (!located.count(finding.code))
        atTimeline(0, finding.code, finding.message);
    if (matching.complete && report.size() == before)
      checkWaits(matching);
  }

private:
  int64_t stageOf(int rank) const { return mesh.coordinate(rank, MTC_AXIS_PP); }

  /// The first member of each group makes it, so ranks go before kinds.
  void makeCommunicators() {
    for (int rank = 0; rank < mesh.worldSize(); ++rank) {
      ranksOf[stageOf(rank)].push_back(rank);
      for (const GroupInfo &group : kGroups)
        addCommunicator(group, rank);
    }
    machine.ranks.resize(mesh.worldSize());
    sources.resize(mesh.worldSize());
  }

  void addCommunicator(const GroupInfo &group, int rank) {
    std::vector<int> members = mesh.members(rank, group.id);
    if (members.empty() || members[0] != rank)
      return;
    for (int member : members)
      communicatorOf[group.id][member] = machine.communicators.size();
    std::string name(group.name);
    if (!group.along(MTC_AXIS_PP))
      name += " of stage " + std::to_string(stageOf(rank));
    machine.communicators.push_back({std::move(name), std::move(members)});
  }

  void addStage(const Stage &stage) {
    auto timeline = stage.timelines.find(entry.str());
    if (timeline == stage.timelines.end())
      return; // reported by checkTimelines
    for (const Row &row : timeline->second.rows) {
      if (row.isExchange())
        addExchange(stage, row);
      if (row.fragment)
        for (const Touch &touch : row.fragment->touches)
          if (auto collective = dyn_cast<rt::CollectiveOp>(touch.op))
            addCollective(stage, collective);
    }
  }

  /// Adds an item to the ranks of a stage; `make(rank)` gives it.
  template <typename Make>
  void addItem(const Stage &stage, const Site &source, Make &&make) {
    for (int rank : ranksOf[stage.index]) {
      machine.ranks[rank].push_back(make(rank));
      sources[rank].push_back(source);
    }
  }

  void addExchange(const Stage &stage, const Row &exchange) {
    bool legal = true;
    for (const rt::Transfer &t : exchange.getTransfers())
      if (t.peer < 0 || t.peer >= model.mesh.stages() ||
          t.peer == stage.index) {
        legal = false;
        rejected = true;
        if (!quiet && once(exchange, nullptr, t.tag.encoded()))
          report.error(exchange) << "expected as peer another stage of 0 to "
                                 << model.mesh.stages() - 1 << ", found "
                                 << t.peer << " for transfer " << t.tag.text();
      }
    if (!legal || !takesPlaceInOrder(exchange))
      return;
    addItem(stage, exchange, [&](int rank) {
      std::vector<schedules::MachineTransfer> transfers;
      for (const rt::Transfer &each : exchange.getTransfers())
        transfers.push_back({each.send,
                             mesh.moved(rank, MTC_AXIS_PP, each.peer),
                             each.bytes, each.tag.text()});
      return MachineItem::exchange(std::move(transfers), partOf(exchange));
    });
  }

  /// What GPUs exchange is one call on the stream of all the others, so it
  /// blocks: begun and awaited apart, transfers could wait for each other.
  bool takesPlaceInOrder(const Row &exchange) {
    StringRef device = model.config.getTarget().getDevice();
    if (device == "cpu" || partOf(exchange) == schedules::Part::Whole)
      return true;
    rejected = true;
    if (!quiet && once(exchange, nullptr, 0))
      report.error(exchange)
          << "expected whole exchanges in a plan for " << device
          << ", whose transfers take place in the order of the program, found "
             "one that is begun or awaited apart; build the schedule without "
             "overlap = p2p";
    return false;
  }

  std::string groupsOf(const Stage &stage) const {
    int rank = mesh.moved(0, MTC_AXIS_PP, stage.index);
    return namesOf(kGroups, [&](const GroupInfo &group) {
      return !mesh.members(rank, group.id).empty();
    });
  }

  void addCollective(const Stage &stage, rt::CollectiveOp op) {
    auto group = communicatorOf.find(op.getGroup());
    bool member = group != communicatorOf.end() &&
                  group->second.count(mesh.moved(0, MTC_AXIS_PP, stage.index));
    if (!member) {
      rejected = true;
      if (!quiet && once(op.getOperation(), nullptr, 0))
        report.error(op) << "expected a group that stage " << stage.index
                         << " belongs to (" << groupsOf(stage) << "), found \""
                         << groupName(op.getGroup()) << "\"";
      return;
    }
    if (quiet && isAlone(group->second, stage))
      return;
    schedules::CollectiveCall call = callOf(op);
    addItem(stage, op.getOperation(), [&](int rank) {
      call.communicator = group->second.at(rank);
      return MachineItem::collect(call);
    });
  }

  /// Whether no rank of a stage has another one in its group on this mesh: a
  /// collective there joins two items of one program, which are in order
  /// already, so no cycle passes it and nobody can differ from it. Of those
  /// along tp there is one for every layer of every microbatch.
  bool isAlone(const std::map<int, int> &communicators,
               const Stage &stage) const {
    return llvm::all_of(ranksOf.at(stage.index), [&](int rank) {
      return machine.communicators[communicators.at(rank)].members.size() == 1;
    });
  }

  /// The call but for its communicator; every microbatch asks for it again.
  const schedules::CollectiveCall &callOf(rt::CollectiveOp op) {
    auto [it, fresh] = calls.try_emplace(op);
    if (!fresh)
      return it->second;
    schedules::CollectiveCall &call = it->second;
    call.op = stringifyCollectiveKind(op.getKind()).str();
    call.count = op.getCount();
    call.type = "norm"; // its limbs (abi.h)
    if (op.getInit()) {
      llvm::raw_string_ostream out(call.type = "");
      out << cast<ShapedType>(op.getInit().getType()).getElementType();
    }
    return call;
  }

  /// All ranks of a stage run the same rows: a finding is said once.
  bool once(const Site &a, const Site &b, int64_t what) {
    return said.insert({a, b, what}).second;
  }

  void compareCollectives(const schedules::Matching &matching) {
    for (const schedules::CollectiveInstance &instance : matching.collectives) {
      auto [rankA, itemA] = instance.calls.front();
      for (auto [rankB, itemB] : llvm::drop_begin(instance.calls)) {
        const schedules::CollectiveCall &a =
            machine.ranks[rankA][itemA].collective;
        const schedules::CollectiveCall &b =
            machine.ranks[rankB][itemB].collective;
        if (a.op == b.op && a.count == b.count && a.type == b.type)
          continue;
        Site first = sources[rankA][itemA], second = sources[rankB][itemB];
        if (!once(first, second, instance.communicator))
          continue;
        auto diag = report.error(second)
                    << "expected the same collective from every member of \""
                    << machine.communicators[instance.communicator].name
                    << "\": as number " << instance.ordinal << " of \"" << entry
                    << "\", stage " << stageOf(rankA) << " has " << a.op
                    << " of " << a.count << " " << a.type << ", found " << b.op
                    << " of " << b.count << " " << b.type << " on stage "
                    << stageOf(rankB);
        diag.attachNote(first.getLoc())
            << "the collective of stage " << stageOf(rankA);
      }
    }
  }

  void compareTransfers(const schedules::Matching &matching) {
    for (const schedules::Pair &pair : matching.pairs) {
      const auto &[send, receive] = pair;
      const auto &a = machine.ranks[send.rank][send.item].transfers[send.op];
      const auto &b =
          machine.ranks[receive.rank][receive.item].transfers[receive.op];
      if (a.tag == b.tag && a.bytes == b.bytes)
        continue;
      Site from = sources[send.rank][send.item],
           to = sources[receive.rank][receive.item];
      if (!once(from, to, send.op))
        continue;
      auto diag = report.error(from)
                  << "expected the receive of stage " << stageOf(receive.rank)
                  << " that is next in order to match the send of " << a.tag
                  << " (" << a.bytes << " bytes), found " << b.tag << " ("
                  << b.bytes << " bytes)";
      diag.attachNote(to.getLoc())
          << "the receive on stage " << stageOf(receive.rank);
    }
  }

  void checkWaits(const schedules::Matching &matching) {
    schedules::WaitForResult waits = schedules::analyseWaits(machine, matching);
    if (waits.acyclic)
      return;
    auto diag = report.error(model.stages.front().timelines.at(entry.str()).op)
                << "expected no wait-for cycle in entry \"" << entry
                << "\" over two steps, found one; its shortest, rank by rank:";
    for (const schedules::RankWait &rank : waits.ranks) {
      Location unended = sources[rank.rank][rank.unended].getLoc();
      Location unbegun = sources[rank.rank][rank.unbegun].getLoc();
      diag.attachNote(unended) << rank.text;
      if (unbegun != unended)
        diag.attachNote(unbegun)
            << "what rank " << rank.rank << " begins only then";
    }
    explainRanks(diag);
  }

  /// Once for all ranks of a stage.
  void atItem(const schedules::Finding &finding) {
    Site site = sources[finding.rank][finding.item];
    if (!placed.emplace(site, finding.code).second)
      return;
    auto diag = report.error(site) << "entry \"" << entry << "\", "
                                   << finding.code << ": " << finding.message;
    explainRanks(diag);
  }

  void atTimeline(int64_t stage, StringRef code, StringRef message) {
    auto it = model.stages[stage].timelines.find(entry.str());
    Operation *op = it == model.stages[stage].timelines.end()
                        ? model.stages[stage].op.getOperation()
                        : it->second.op.getOperation();
    auto diag = report.error(op)
                << "entry \"" << entry << "\", " << code << ": " << message;
    explainRanks(diag);
  }

  void explainRanks(InFlightDiagnostic &diag) {
    diag.attachNote() << "rank = " << rankFormula()
                      << "; one rank stands for all with the same program";
  }

  /// "tp + 2·(dp + 2·stage)", or "stage" where the stages are all ranks.
  std::string rankFormula() const {
    if (mesh.worldSize() == mesh.stages())
      return "stage";
    std::string text;
    SmallVector<MtcAxis> axes = llvm::to_vector(mesh.order());
    for (MtcAxis axis : llvm::reverse(axes)) {
      std::string name(axis == MTC_AXIS_PP ? "stage" : axisName(axis));
      bool isLast = text.empty(), isSum = text.find('+') != text.npos;
      text = isLast ? name
                    : name + " + " + std::to_string(mesh[axis]) + "·" +
                          (isSum ? "(" + text + ")" : text);
    }
    return text;
  }

  const Model &model;
  StringRef entry;
  Report &report;
  Mesh mesh;                                   ///< of the machine
  std::map<int64_t, std::vector<int>> ranksOf; ///< by stage
  bool quiet = false, rejected = false; ///< an item that no machine can have
  Machine machine;
  std::map<MtcGroup, std::map<int, int>> communicatorOf;  ///< by rank
  std::vector<std::vector<Site>> sources;                 ///< of each item
  DenseMap<Operation *, schedules::CollectiveCall> calls; ///< looked up only
  std::set<std::tuple<Site, Site, int64_t>> said;
  std::set<std::pair<Site, std::string>> placed; ///< looked up only
};

void checkCount(const Model &model, const Touch &touch, rt::CollectiveOp op,
                Report &report) {
  if (touch.accesses.empty())
    return;
  int64_t elements = cast<ShapedType>(op.getInit().getType()).getNumElements();
  int64_t expected = op.countsPart()
                         ? elements / model.mesh.groupSize(op.getGroup())
                         : elements;
  int64_t count = op.getCount();
  // A moved view ends somewhere inside: the range says how much of it is meant.
  bool fits = touch.accesses[0].moved ? count <= expected : count == expected;
  if (!fits)
    report.error(op) << "expected a count of " << expected << " for "
                     << op.getInit().getType() << " on group \""
                     << groupName(op.getGroup()) << "\", found " << count;
}

} // namespace

void checkMachine(const Model &model, Report &report) {
  std::set<std::string> entries;
  for (const Stage &stage : model.stages) {
    for (auto &[entry, timeline] : stage.timelines)
      entries.insert(entry);
    for (const Fragment &fragment : stage.fragments)
      for (const Touch &touch : fragment.touches)
        if (auto op = dyn_cast<rt::CollectiveOp>(touch.op))
          checkCount(model, touch, op, report);
  }
  for (const std::string &entry : entries)
    if (!MachineChecker(model, entry, report, 1).isSound())
      MachineChecker(model, entry, report, 2).check();
}

} // namespace mtc::passes::verify
