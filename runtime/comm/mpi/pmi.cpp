//===- pmi.cpp - MPI's start without a process manager --------------------===//

#include "runtime/comm/mpi/pmi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace mtc::runtime {

namespace {

/// "cmd=put key=a value=b" as a map. A value ends at a space.
std::map<std::string, std::string> fieldsOf(std::string_view line) {
  std::map<std::string, std::string> fields;
  while (!line.empty()) {
    std::string_view field = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
    size_t equals = field.find('=');
    if (equals != field.npos)
      fields.emplace(field.substr(0, equals), field.substr(equals + 1));
  }
  return fields;
}

} // namespace

/// What all have put is known to all.
Status PmiTable::meet() {
  std::string mine;
  for (const auto &[key, value] : own_)
    mine += key + "=" + value + " ";
  own_.clear();
  std::vector<std::string> all;
  MTC_RETURN_IF_ERROR(gather_(mine, all));
  for (const std::string &given : all)
    all_.merge(fieldsOf(given));
  return Status::okay();
}

Status PmiTable::answer(std::string_view line, std::string &out) {
  std::map<std::string, std::string> fields = fieldsOf(line);
  const std::string &command = fields["cmd"];
  out.clear();
  if (command == "init")
    out = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
  else if (command == "get_maxes")
    out = "cmd=maxes kvsname_max=64 keylen_max=256 vallen_max=4096 rc=0\n";
  else if (command == "get_appnum")
    out = "cmd=appnum appnum=0 rc=0\n";
  else if (command == "get_my_kvsname")
    out = "cmd=my_kvsname kvsname=mtc rc=0\n";
  else if (command == "get_universe_size")
    out = fmt::format("cmd=universe_size size={} rc=0\n", world_);
  else if (command == "finalize")
    out = "cmd=finalize_ack rc=0\n";
  else if (command == "put") {
    own_[fields["key"]] = fields["value"];
    out = "cmd=put_result rc=0 msg=success\n";
  } else if (command == "get") {
    auto found = all_.find(fields["key"]);
    out = found == all_.end()
              ? "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
              : fmt::format("cmd=get_result rc=0 msg=success value={}\n",
                            found->second);
  } else if (command == "barrier_in") {
    MTC_RETURN_IF_ERROR(meet());
    out = "cmd=barrier_out rc=0\n";
  } else if (command == "abort") {
    gaveUp_ = true;
  }
  return Status::okay();
}

struct PmiServer::State {
  State(int rank, int world, Gather gather)
      : table(rank, world, std::move(gather)) {}
  ~State() {
    if (fd >= 0)
      close(fd);
  }

  /// Until the library closes its end.
  void serve() {
    std::string pending;
    char buffer[4096];
    ssize_t n = 0;
    while ((n = recv(fd, buffer, sizeof buffer, 0)) > 0 ||
           (n < 0 && errno == EINTR)) {
      pending.append(buffer, size_t(std::max<ssize_t>(n, 0)));
      for (size_t end; (end = pending.find('\n')) != pending.npos;) {
        answer(pending.substr(0, end));
        pending.erase(0, end + 1);
      }
    }
  }

  void answer(const std::string &line) {
    std::lock_guard held(serving);
    if (closed || failed)
      return;
    std::string text;
    failure = table.answer(line, text);
    failed = !failure.ok();
    if (!failed && !text.empty())
      (void)!send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  }

  PmiTable table;
  int fd = -1;
  std::mutex serving;  ///< held for an answer; guards what it writes
  bool closed = false; ///< nobody is there any more to gather by
  std::atomic<bool> failed = false; ///< set behind `failure`, once
  Status failure;
};

Status PmiServer::start(int rank, int world, Gather gather,
                        std::unique_ptr<PmiServer> &out) {
  auto state = std::make_shared<State>(rank, world, std::move(gather));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return {StatusCode::failed, fmt::format("cannot make a pair of sockets: {}",
                                            std::strerror(errno))};
  state->fd = ends[0];
  try {
    std::thread([state] { state->serve(); }).detach();
  } catch (const std::system_error &error) {
    close(ends[1]);
    return {StatusCode::failed,
            fmt::format("cannot start a thread: {}; check `ulimit -u`",
                        error.what())};
  }
  // The library closes its end.
  setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
  setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
  setenv("PMI_SIZE", std::to_string(world).c_str(), 1);
  out.reset(new PmiServer(std::move(state)));
  return Status::okay();
}

PmiServer::~PmiServer() {
  std::lock_guard held(state_->serving);
  state_->closed = true;
}

bool PmiServer::gaveUp() const { return state_->table.gaveUp(); }

Status PmiServer::failure() const {
  return state_->failed ? state_->failure : Status::okay();
}

} // namespace mtc::runtime
