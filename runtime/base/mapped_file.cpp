//===- mapped_file.cpp - input files in memory ----------------------------===//

#include "runtime/base/mapped_file.h"

#include "runtime/base/guarded_copy.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace mtc::runtime {

void MappedFile::Unmap::operator()(const std::byte *at) const {
  munmap(const_cast<std::byte *>(at), bytes);
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
    file.bytes_ = {static_cast<const std::byte *>(at),
                   Unmap{static_cast<size_t>(file.size())}};
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
  if (inside && guardedCopy(out, bytes_.get() + offset, bytes) &&
      file_.isWhole())
    return Status::okay();
  return file_.read(offset, out, bytes); // which says what is wrong
}

} // namespace mtc::runtime
