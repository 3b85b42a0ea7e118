//===- event_file.cpp - a run as scalars of TensorBoard -------------------===//

#include "runtime/train/event_file.h"

#include "runtime/base/wall_time.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// The name of the machine as part of a file's.
std::string hostPart() {
  std::string name = hostName();
  for (char &c : name)
    if (c == '/')
      c = '_';
  return name;
}

} // namespace

EventFile::~EventFile() {
  if (fd_ >= 0)
    close(fd_);
}

Status EventFile::open(const std::string &folder, int64_t firstStep) {
  std::string path =
      fmt::format("{}/events.out.tfevents.{:010}.{}.{}.0", folder,
                  static_cast<int64_t>(wallTime()), hostPart(), getpid());
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0)
    return {StatusCode::writeFailed,
            fmt::format("cannot write '{}': {}", path, std::strerror(errno))};
  out_.attach(fd_, path, /*alone=*/true);
  bytes_.clear();
  event_.begin(wallTime(), 0);
  event_.fileVersion();
  event_.finish(bytes_);
  event_.begin(wallTime(), firstStep);
  event_.sessionStart();
  end();
  return Status::okay();
}

void EventFile::begin(int64_t step) {
  bytes_.clear();
  event_.begin(wallTime(), step);
}

void EventFile::add(std::string_view tag, double value) {
  event_.scalar(tag, static_cast<float>(value));
}

void EventFile::add(std::string_view group, std::string_view name,
                    double value) {
  tag_ = group;
  tag_ += name;
  add(tag_, value);
}

void EventFile::text(std::string_view tag, std::string_view markdown) {
  begin(0);
  event_.text(tag, markdown);
  end();
}

void EventFile::end() {
  event_.finish(bytes_);
  out_.line(bytes_);
}

} // namespace mtc::runtime
