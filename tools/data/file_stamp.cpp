//===- file_stamp.cpp - whether a file has changed ------------------------===//

#include "tools/data/file_stamp.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

Status stampOf(const std::string &path, FileStamp &out) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return {StatusCode::inputRejected,
            fmt::format("cannot read '{}': {}", path, std::strerror(errno))};
  out = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
         info.st_mtim.tv_nsec};
  return Status::okay();
}

} // namespace

Status FileStamps::take(const std::vector<std::string> &paths,
                        FileStamps &out) {
  out.paths_ = paths;
  out.stamps_.assign(paths.size(), {});
  for (size_t i = 0; i < paths.size(); ++i)
    MTC_RETURN_IF_ERROR(stampOf(paths[i], out.stamps_[i]));
  return Status::okay();
}

Status FileStamps::check() const {
  std::string problems;
  for (size_t i = 0; i < paths_.size(); ++i) {
    FileStamp now;
    MTC_RETURN_IF_ERROR(stampOf(paths_[i], now));
    if (now != stamps_[i])
      problems += fmt::format(
          "{}'{}': expected a file that does not change while it is read; it "
          "had {} bytes, and now has {}",
          problems.empty() ? "" : "\n  ", paths_[i], stamps_[i].bytes,
          now.bytes);
  }
  return problems.empty() ? Status::okay()
                          : Status(StatusCode::inputRejected, problems);
}

} // namespace mtc::data
