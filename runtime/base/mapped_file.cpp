//===- mapped_file.cpp - input files in memory ----------------------------===//

#include "runtime/base/mapped_file.h"

#include "runtime/base/guarded_copy.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace mtc::runtime {

MappedFile::~MappedFile() {
  if (bytes_)
    munmap(const_cast<std::byte *>(bytes_), static_cast<size_t>(size()));
}

void MappedFile::swap(MappedFile &other) noexcept {
  std::swap(file_, other.file_);
  std::swap(bytes_, other.bytes_);
}

Status MappedFile::open(const std::string &path, MappedFile &out) {
  MappedFile file;
  MTC_RETURN_IF_ERROR(InputFile::open(path, file.file_));
  if (file.size() > 0) { // an empty one cannot be mapped, and need not be
    void *at = file.file_.map();
    if (at == MAP_FAILED)
      return {StatusCode::inputRejected,
              fmt::format("cannot map '{}', {} bytes: {}{}", path, file.size(),
                          std::strerror(errno),
                          errno == ENOMEM ? "; check `ulimit -v`" : "")};
    file.bytes_ = static_cast<const std::byte *>(at);
    if (!guardCopies())
      return {StatusCode::failed,
              fmt::format("cannot handle SIGBUS: {}", std::strerror(errno))};
  }
  out = std::move(file);
  return Status::okay();
}

Status MappedFile::read(int64_t offset, void *out, int64_t bytes) const {
  bool inside =
      offset >= 0 && bytes >= 0 && bytes <= size() && offset <= size() - bytes;
  // The rest of the last page of a file that was cut reads as zeros: a length
  // that is as before says that what was copied is the file's.
  if (inside && guardedCopy(out, bytes_ + offset, bytes) && file_.isWhole())
    return Status::okay();
  return file_.read(offset, out, bytes); // which says what is wrong
}

} // namespace mtc::runtime
