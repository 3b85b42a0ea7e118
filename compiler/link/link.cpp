//===- link.cpp - objects to executables and shared objects ---------------===//

#include "compiler/link/link.h"

#include "compiler/link/lld.h"
#include "compiler/output_folder.h"

#include <filesystem>

#include <fmt/format.h>

namespace fs = std::filesystem;

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// An absolute path begins with a slash, so the linker cannot take it for an
/// option or a response file, whatever name a person chose.
Status addPath(const std::string &path, std::vector<std::string> &arguments) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error)
    return {StatusCode::failed,
            fmt::format("cannot name '{}' from the root: {}", path,
                        error.message())};
  arguments.push_back(absolute.string());
  return Status::okay();
}

/// What holds for both forms, `form`, then the items with the objects at their
/// place.
Status makeArguments(const std::vector<std::string> &form,
                     const std::vector<LinkItem> &items,
                     const std::vector<std::string> &objects,
                     std::vector<std::string> &arguments) {
  // Nothing of the place or time of linking enters the file, and a program
  // demands no library that it does not call. Files are small: to wake threads
  // takes longer than they save.
  arguments = {"-m",
               "elf_x86_64",
               "--eh-frame-hdr",
               "--hash-style=gnu",
               "--build-id=none",
               "--threads=1",
               "--gc-sections",
               "--as-needed"};
  arguments.insert(arguments.end(), form.begin(), form.end());
  for (const LinkItem &item : items) {
    if (!item.path.empty())
      arguments.push_back(item.path);
    else
      for (const std::string &object : objects)
        MTC_RETURN_IF_ERROR(addPath(object, arguments));
  }
  return Status::okay();
}

/// Whoever may read it may execute it.
Status makeExecutable(const std::string &path) {
  std::error_code error;
  fs::perms readers =
      fs::status(path, error).permissions() &
      (fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  auto bits = static_cast<unsigned>(readers) >> 2;
  if (!error)
    fs::permissions(path, static_cast<fs::perms>(bits), fs::perm_options::add,
                    error);
  if (!error)
    return Status::okay();
  return {
      StatusCode::writeFailed,
      fmt::format("cannot make '{}' executable: {}", path, error.message())};
}

Status link(const std::vector<std::string> &form,
            const std::vector<LinkItem> &items,
            const std::vector<std::string> &objects,
            const std::string &output) {
  std::vector<std::string> arguments;
  WholeFile file(output, runtime::NameSync::nobody);
  MTC_RETURN_IF_ERROR(makeArguments(form, items, objects, arguments));
  MTC_RETURN_IF_ERROR(runLld(arguments, file));
  MTC_RETURN_IF_ERROR(file.commit());
  return makeExecutable(output);
}

} // namespace

Status linkExecutable(const Toolchain &toolchain,
                      const std::vector<std::string> &objects,
                      const std::string &output) {
  return link({"-pie", "--export-dynamic-symbol=mtc_timeline_*",
               "--export-dynamic-symbol=mtc_ptx_*",
               "--export-dynamic-symbol=mtc_cubin_*", "-dynamic-linker",
               "/lib64/ld-linux-x86-64.so.2"},
              toolchain.executable, objects, output);
}

Status linkShared(const Toolchain &toolchain,
                  const std::vector<std::string> &objects,
                  const std::string &output) {
  return link({"-shared"}, toolchain.shared, objects, output);
}

Status linkProgram(const Toolchain &toolchain, const LinkJob &job) {
  if (job.form != LinkForm::shared)
    MTC_RETURN_IF_ERROR(linkExecutable(toolchain, job.objects, job.file));
  if (job.form != LinkForm::executable)
    MTC_RETURN_IF_ERROR(linkShared(toolchain, job.objects, job.file + ".so"));
  return Status::okay();
}

} // namespace mtc::compiler
