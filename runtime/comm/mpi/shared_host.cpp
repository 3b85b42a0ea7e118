//===- shared_host.cpp - ranks of one host share their memory -------------===//

#include "runtime/comm/mpi/shared_host.h"

#include "runtime/base/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace mtc::runtime {

namespace {

std::string firstLine(const char *path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string linkTarget(const char *path) {
  std::error_code none;
  return std::filesystem::read_symlink(path, none).string();
}

/// Numbers, a line, the key.
std::string pack(const HostShare &own) {
  std::string out = fmt::format("{}", own.posted);
  for (int64_t bytes : own.arenas)
    out += fmt::format(" {}", bytes);
  return out + "\n" + own.key;
}

} // namespace

std::string hostKey() {
  return fmt::format("{} {} {} {}", hostName(),
                     firstLine("/proc/sys/kernel/random/boot_id"),
                     linkTarget("/proc/self/ns/pid"), geteuid());
}

Status SharedHost::read(const std::vector<std::string> &all,
                        std::vector<Member> &members) {
  for (const std::string &said : all) {
    size_t end = said.find('\n');
    std::istringstream in(said.substr(0, end));
    Member member;
    in >> member.posted;
    for (int64_t &bytes : member.arenas)
      in >> bytes;
    member.key = end == said.npos ? "" : said.substr(end + 1);
    if (!in || member.key.empty())
      return {StatusCode::internal, "a rank said nothing of its host"};
    members.push_back(std::move(member));
  }
  return Status::okay();
}

/// The memory of all ranks of this host.
Status SharedHost::make(const HostShare &own,
                        const std::vector<Member> &members) {
  std::vector<ArenaSizes> sizes(members.size(), ArenaSizes{});
  int64_t posted = 0;
  for (size_t rank = 0; rank < members.size(); ++rank)
    if (near_[rank]) {
      sizes[rank] = members[rank].arenas;
      posted = std::max(posted, members[rank].posted);
    }
  MTC_RETURN_IF_ERROR(ShmSetup::create(own.mesh, sizes, posted, made_));
  made_->openToOthers();
  return Status::okay();
}

/// `said`: the path of the first rank's control segment.
Status SharedHost::open(const std::string &said, int first) {
  openedFd_ = ::open(said.c_str(), O_RDWR | O_CLOEXEC);
  if (openedFd_ >= 0)
    return Status::okay();
  return {
      StatusCode::failed,
      fmt::format("cannot open {}, memory of rank {} on this host: {}; with "
                  "--mpi-inside-hosts ranks of a host share none",
                  said, first, std::strerror(errno))};
}

Status SharedHost::join(const HostShare &own, const Gather &gather,
                        std::unique_ptr<SharedHost> &out) {
  std::vector<std::string> all;
  std::vector<Member> members;
  MTC_RETURN_IF_ERROR(gather(pack(own), all));
  MTC_RETURN_IF_ERROR(read(all, members));
  std::unique_ptr<SharedHost> made(new SharedHost);
  for (const Member &member : members)
    made->near_.push_back(member.key == own.key);
  auto &near = made->near_;
  int first = int(std::ranges::find(near, true) - near.begin());
  bool alone = std::ranges::count(near, true) == 1;
  std::string path;
  Status status;
  if (own.rank == first && !alone) {
    status = made->make(own, members);
    if (status.ok())
      path = fmt::format("/proc/{}/fd/{}", getpid(), made->made_->controlFd());
  }
  // Also by those who failed or are alone: all take part in it.
  MTC_RETURN_IF_ERROR(gather(path, all));
  if (status.ok() && !alone)
    status = made->attach(own, all[size_t(first)], first);
  // Nobody goes on before all have opened it: the process of the first may end.
  MTC_RETURN_IF_ERROR(gather("", all));
  MTC_RETURN_IF_ERROR(status);
  if (!alone)
    out = std::move(made);
  return Status::okay();
}

Status SharedHost::attach(const HostShare &own, const std::string &path,
                          int first) {
  if (path.empty())
    return {
        StatusCode::failed,
        fmt::format("rank {} made no memory for the ranks of its host", first)};
  if (own.rank != first)
    MTC_RETURN_IF_ERROR(open(path, first));
  ShmOptions options;
  options.threads = own.threads;
  options.ranks = std::ranges::count(near_, true);
  int fd = made_ ? made_->controlFd() : openedFd_;
  return ShmCommunicator::attach(fd, own.rank, options, comm_);
}

SharedHost::~SharedHost() {
  comm_.reset();
  if (openedFd_ >= 0)
    close(openedFd_);
}

} // namespace mtc::runtime
