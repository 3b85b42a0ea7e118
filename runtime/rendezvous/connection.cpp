//===- connection.cpp - frames to and from one peer -----------------------===//

#include "runtime/rendezvous/connection.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Status lookUp(const std::string &address, int port, int flags, Addresses &out) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo *found = nullptr;
  int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints,
                          &found);
  if (error != 0)
    return {StatusCode::usage,
            fmt::format("expected a host's name or address, found '{}': {}",
                        address, gai_strerror(error))};
  out.reset(found);
  return Status::okay();
}

int openSocket(const addrinfo &at) {
  return socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                at.ai_protocol);
}

} // namespace

Connection::Connection(int fd, size_t mostFrameBytes)
    : fd_(fd), reader_(mostFrameBytes) {
  int yes = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void Connection::swap(Connection &other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(reader_, other.reader_);
  std::swap(out_, other.out_);
  std::swap(heard_, other.heard_);
}

void Connection::close() {
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = -1;
}

void Connection::receive() {
  char buffer[16384];
  while (open() && !reader_.full()) {
    ssize_t n = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (n <= 0)
      return close();
    heard_ = Clock::now();
    reader_.add({buffer, size_t(n)});
  }
}

std::optional<Frame> Connection::next() {
  std::optional<Frame> frame;
  if (!reader_.next(frame).ok())
    close();
  return frame;
}

void Connection::send(FrameKind kind, std::string_view payload) {
  out_ += packFrame(kind, payload);
  flush();
}

void Connection::flush() {
  while (pending()) {
    ssize_t n =
        ::send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (n <= 0) { // the reader meets the end, behind what came before it
      out_.clear();
      return;
    }
    out_.erase(0, size_t(n));
  }
}

Status listenAt(const std::string &address, int port, int &fd) {
  Addresses found(nullptr, freeaddrinfo);
  MTC_RETURN_IF_ERROR(lookUp(address, port, AI_PASSIVE, found));
  int error = 0;
  for (const addrinfo *at = found.get(); at; at = at->ai_next) {
    fd = openSocket(*at);
    int yes = 1;
    if (fd >= 0)
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0 &&
        listen(fd, SOMAXCONN) == 0)
      return Status::okay();
    error = errno;
    if (fd >= 0)
      close(fd);
  }
  fd = -1;
  return {
      StatusCode::usage,
      fmt::format("rank 0 cannot listen at {}, port {}: {}; name an address "
                  "of its host and a port that is free (MTC_MASTER_ADDR, "
                  "MTC_MASTER_PORT)",
                  address, port, std::strerror(error))};
}

int portOf(int fd) {
  sockaddr_storage at = {};
  socklen_t length = sizeof at;
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&at), &length) != 0)
    return 0;
  return ntohs(at.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6 &>(at).sin6_port
                   : reinterpret_cast<sockaddr_in &>(at).sin_port);
}

int acceptNext(int listenFd, std::string &from) {
  sockaddr_storage at = {};
  socklen_t length = sizeof at;
  auto *address = reinterpret_cast<sockaddr *>(&at);
  int fd = accept4(listenFd, address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  char name[NI_MAXHOST] = "";
  if (fd >= 0)
    getnameinfo(address, length, name, sizeof name, nullptr, 0, NI_NUMERICHOST);
  from = name;
  return fd;
}

Status beginConnect(const std::string &address, int port, size_t attempt,
                    int &fd) {
  Addresses found(nullptr, freeaddrinfo);
  MTC_RETURN_IF_ERROR(lookUp(address, port, 0, found));
  size_t count = 0;
  for (const addrinfo *at = found.get(); at; at = at->ai_next)
    ++count;
  const addrinfo *at = found.get();
  for (size_t skipped = attempt % count; skipped > 0; --skipped)
    at = at->ai_next;
  fd = openSocket(*at);
  if (fd >= 0 &&
      (connect(fd, at->ai_addr, at->ai_addrlen) == 0 || errno == EINPROGRESS))
    return Status::okay();
  int error = errno;
  if (fd >= 0)
    close(fd);
  fd = -1;
  return {StatusCode::failed, std::strerror(error)};
}

} // namespace mtc::runtime
