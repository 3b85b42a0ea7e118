//===- connection.h - frames to and from one peer ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_RENDEZVOUS_CONNECTION_H
#define MTC_RUNTIME_RENDEZVOUS_CONNECTION_H

#include "runtime/rendezvous/frame.h"

#include <chrono>
#include <string>

namespace mtc::runtime {

/// An open socket, never waited for. Owns its descriptor.
class Connection {
public:
  using Clock = std::chrono::steady_clock;

  Connection() = default;
  Connection(int fd, size_t mostFrameBytes);
  Connection(Connection &&other) noexcept { swap(other); }
  Connection &operator=(Connection &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Connection() { close(); }

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();
  /// When something came last.
  Clock::time_point heard() const { return heard_; }
  void allow(size_t mostFrameBytes) { reader_.allow(mostFrameBytes); }

  /// Takes what has come, up to the size of a frame: who sends without pause
  /// holds nobody up, and fills no memory. The stream's end, or what is no
  /// frame, closes it; frames that came before are still there.
  void receive();
  /// The next frame that came, if one is whole.
  std::optional<Frame> next();
  /// Sends as soon as the peer takes it, see `flush`.
  void send(FrameKind kind, std::string_view payload);
  /// Writes what the peer takes now.
  void flush();
  bool pending() const { return open() && !out_.empty(); }

private:
  void swap(Connection &other) noexcept;
  int fd_ = -1;
  FrameReader reader_;
  std::string out_;
  Clock::time_point heard_ = Clock::now();
};

/// For listening at every address of this host.
inline constexpr const char *kAllAddresses = "0.0.0.0";
/// Listens at an address of this host. `port` 0: any that is free. Returns the
/// descriptor. Errors: usage, when the address is none of this host or the port
/// is taken.
Status listenAt(const std::string &address, int port, int &fd);
/// Of a socket that listens.
int portOf(int fd);
/// The next who connected, not to be waited for; -1: nobody. `from` is the
/// address.
int acceptNext(int listenFd, std::string &from);
/// Begins to connect; the socket is writable once it is. A name may have
/// several addresses, of which each attempt takes the next. Errors: usage, when
/// the name is unknown; failed.
Status beginConnect(const std::string &address, int port, size_t attempt,
                    int &fd);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_CONNECTION_H
