//===- messages.cpp - what this process and a helper say ------------------===//

#include "compiler/link/messages.h"

#include <cerrno>
#include <cstdint>
#include <sys/socket.h>

namespace mtc::compiler {
namespace {

bool sendAll(int channel, const void *data, size_t size) {
  auto *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t count = send(channel, bytes, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool receiveAll(int channel, void *data, size_t size) {
  auto *bytes = static_cast<char *>(data);
  while (size > 0) {
    ssize_t count = recv(channel, bytes, size, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

} // namespace

bool sendStrings(int channel, const std::vector<std::string> &strings) {
  uint64_t count = strings.size();
  if (!sendAll(channel, &count, sizeof count))
    return false;
  for (const std::string &string : strings) {
    uint64_t size = string.size();
    if (!sendAll(channel, &size, sizeof size) ||
        !sendAll(channel, string.data(), size))
      return false;
  }
  return true;
}

bool receiveStrings(int channel, std::vector<std::string> &strings) {
  uint64_t count = 0;
  if (!receiveAll(channel, &count, sizeof count))
    return false;
  strings.assign(count, "");
  for (std::string &string : strings) {
    uint64_t size = 0;
    if (!receiveAll(channel, &size, sizeof size))
      return false;
    string.resize(size);
    if (!receiveAll(channel, string.data(), size))
      return false;
  }
  return true;
}

} // namespace mtc::compiler
