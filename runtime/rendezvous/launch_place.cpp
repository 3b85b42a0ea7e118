//===- launch_place.cpp - which rank a process was started as -------------===//

#include "runtime/rendezvous/launch_place.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace mtc::runtime {
namespace {

/// Of each, the first that is set.
using Names = std::array<const char *, 2>;

struct Family {
  const char *name;
  Names rank, world, localRank, localSize;
  bool needsBoth; ///< its names are words that others use, too
};

// In order of precedence. Slurm is apart: its variables are also in the
// environment of what a step starts.
constexpr Family kFamilies[] = {
    {"mtc",
     {"MTC_RANK"},
     {"MTC_WORLD_SIZE"},
     {"MTC_LOCAL_RANK"},
     {"MTC_LOCAL_WORLD_SIZE"},
     false},
    {"torchrun",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_RANK"},
     {"LOCAL_WORLD_SIZE"},
     true},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     false},
    {"PMI",
     {"PMI_RANK"},
     {"PMI_SIZE"},
     {"MPI_LOCALRANKID"},
     {"MPI_LOCALNRANKS"},
     false},
};
constexpr Family kSlurm = {"Slurm",
                           {"SLURM_PROCID"},
                           {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
                           {"SLURM_LOCALID"},
                           {},
                           false};

constexpr int kTorchrunPorts = 1; ///< torchrun listens at its own

class Reader {
public:
  explicit Reader(const Environment &environment) : environment_(environment) {}

  std::optional<std::string> text(const Names &names,
                                  const char **found = nullptr) const {
    for (const char *name : names)
      if (std::optional<std::string> value =
              name ? environment_(name) : std::nullopt) {
        if (found)
          *found = name;
        return value;
      }
    return std::nullopt;
  }
  /// `out` stays where nothing is set.
  void number(const Names &names, int &out) {
    const char *name = nullptr;
    std::optional<std::string> value = text(names, &name);
    if (!value)
      return;
    auto [rest, error] =
        std::from_chars(value->data(), value->data() + value->size(), out);
    if (error == std::errc() && rest == value->data() + value->size() &&
        out >= 0)
      return;
    problem(
        fmt::format("{}: expected a number from 0, found '{}'", name, *value));
  }
  void problem(const std::string &text) {
    problems_ += (problems_.empty() ? "" : "; ") + text;
  }
  Status status() const {
    return problems_.empty() ? Status::okay()
                             : Status(StatusCode::usage, problems_);
  }

private:
  const Environment &environment_;
  std::string problems_;
};

bool speaks(const Family &family, const Reader &reader) {
  bool rank = reader.text(family.rank).has_value();
  bool world = reader.text(family.world).has_value();
  return family.needsBoth ? rank && world : rank || world;
}

LaunchPlace placeOf(const Family &family, Reader &reader) {
  LaunchPlace place;
  place.family = family.name;
  if (!reader.text(family.rank))
    reader.problem(fmt::format("{} is set and {} is not; set both",
                               family.world[0], family.rank[0]));
  if (!reader.text(family.world))
    reader.problem(fmt::format("{} is set and {} is not; set both",
                               family.rank[0], family.world[0]));
  reader.number(family.rank, place.rank);
  reader.number(family.world, place.world);
  reader.number(family.localRank, place.localRank);
  reader.number(family.localSize, place.localSize);
  return place;
}

void checkAgreement(const LaunchPlace &a, const LaunchPlace &b,
                    Reader &reader) {
  if (a.rank != b.rank || a.world != b.world)
    reader.problem(fmt::format(
        "{} says that this is rank {} of {}, {} that it is rank {} of {}; "
        "start with one of them, or say it with --rank and --world",
        a.family, a.rank, a.world, b.family, b.rank, b.world));
}

/// The node of rank 0, and a port that other jobs do not have.
void addSlurm(Reader &reader, LaunchPlace &place) {
  int node = 0, job = 0, step = 0;
  reader.number({"SLURM_NODEID"}, node);
  reader.number({"SLURM_JOB_ID"}, job);
  reader.number({"SLURM_STEP_ID"}, step);
  std::optional<std::string> tasks =
      reader.text({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  place.localSize = tasks ? tasksOfNode(*tasks, node) : -1;
  constexpr int kFirstPort = 20000, kPorts = 10000; // below those of clients
  place.port = kFirstPort + (job % kPorts + 101 * (step % kPorts)) % kPorts;
  std::optional<std::string> list =
      reader.text({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
  std::vector<std::string> nodes;
  if (Status status = expandNodes(list.value_or(""), 1, nodes); !status.ok())
    reader.problem(status.message());
  else if (!nodes.empty())
    place.master = nodes.front();
}

void addMaster(const std::string &text, Reader &reader, LaunchPlace &place) {
  size_t colon = text.rfind(':');
  // Of an IPv6 address without brackets all colons are its own.
  bool hasPort =
      colon != text.npos && (text.find(':') == colon || text[colon - 1] == ']');
  place.master = text.substr(0, hasPort ? colon : text.npos);
  if (place.master.size() > 2 && place.master.front() == '[')
    place.master = place.master.substr(1, place.master.size() - 2);
  if (!hasPort)
    return;
  const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(begin, end, place.port);
  if (error != std::errc() || rest != end)
    reader.problem(fmt::format("--master: expected HOST or HOST:PORT, found "
                               "'{}'",
                               text));
}

/// What is not of a family: where rank 0 listens.
void addMasters(const GivenPlace &given, Reader &reader, LaunchPlace &place) {
  if (place.family == "torchrun") {
    place.master = reader.text({"MASTER_ADDR"}).value_or("");
    reader.number({"MASTER_PORT"}, place.port);
    place.port += place.port > 0 ? kTorchrunPorts : 0;
  }
  if (auto address = reader.text({"MTC_MASTER_ADDR"}))
    place.master = *address;
  reader.number({"MTC_MASTER_PORT"}, place.port);
  if (!given.master.empty())
    addMaster(given.master, reader, place);
  constexpr int kMostPort = std::numeric_limits<uint16_t>::max();
  if (place.port < 0 || place.port > kMostPort)
    reader.problem(fmt::format("the port of rank 0: expected at most {}, found "
                               "{}",
                               kMostPort, place.port));
}

} // namespace

Environment processEnvironment() {
  return [](const std::string &name) -> std::optional<std::string> {
    const char *value = std::getenv(name.c_str());
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
  };
}

Status findPlace(const GivenPlace &given, const Environment &environment,
                 LaunchPlace &out) {
  Reader reader(environment);
  std::optional<LaunchPlace> found;
  bool asked = given.rank || given.world;
  if (asked) {
    found.emplace();
    found->family = "--rank and --world";
    if (!given.rank || !given.world)
      reader.problem("--rank and --world: expected both, found one");
    found->rank = given.rank.value_or(0);
    found->world = given.world.value_or(1);
  }
  for (const Family &family : kFamilies) {
    if (asked || !speaks(family, reader))
      continue;
    LaunchPlace place = placeOf(family, reader);
    if (found)
      checkAgreement(*found, place, reader);
    else
      found = place;
  }
  if (!found && reader.text({"SLURM_STEP_ID"}) && speaks(kSlurm, reader)) {
    found = placeOf(kSlurm, reader);
    addSlurm(reader, *found);
  }
  if (!found && reader.text({"PMIX_RANK"}))
    reader.problem("a launcher started this process as rank of several "
                   "(PMIX_RANK) and does not say of how many; say it with "
                   "--rank and --world, or MTC_RANK and MTC_WORLD_SIZE");
  out = found.value_or(LaunchPlace());
  addMasters(given, reader, out);
  if (out.world < 1 || out.rank >= out.world || out.rank < 0)
    reader.problem(fmt::format("{} says rank {} of {}: expected a rank below "
                               "the number of ranks",
                               out.family, out.rank, out.world));
  return reader.status();
}

} // namespace mtc::runtime
