//===- toolchain.cpp - what programs are linked with ----------------------===//

#include "compiler/install.h"
#include "compiler/link/link.h"

#include <filesystem>
#include <fstream>
#include <link.h>

#include <fmt/format.h>

namespace fs = std::filesystem;

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

struct Search {
  std::string name; ///< "libm.so", which "libm.so.6" is, too
  std::string path; ///< where it was loaded from
};

/// Whether a file name is `name`, alone or with a version behind it.
bool isLibrary(const std::string &file, const std::string &name) {
  return file == name || file.starts_with(name + ".");
}

int lookAt(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  if (!isLibrary(fs::path(info->dlpi_name).filename().string(), search.name))
    return 0;
  search.path = info->dlpi_name;
  return 1;
}

/// The path of a shared library of this process; empty if it has none of that
/// name. Programs get the libraries that mtc has: what a plan says of the
/// product library's scratch is then true of them.
std::string loadedLibrary(const std::string &name) {
  Search search{name, ""};
  dl_iterate_phdr(lookAt, &search);
  std::error_code error;
  return search.path.empty() ? "" : fs::absolute(search.path, error).string();
}

Status missing(const std::string &what, const std::string &list) {
  return {StatusCode::failed,
          fmt::format("expected {} to link programs with, as '{}' says, found "
                      "none; build or install mtc as a whole",
                      what, list)};
}

/// One line of a list.
Status readItem(const std::string &line, const std::string &list,
                std::vector<LinkItem> &items) {
  size_t space = line.find(' ');
  std::string kind = line.substr(0, space);
  std::string name = space == line.npos ? "" : line.substr(space + 1);
  LinkItem item;
  std::error_code error;
  if (kind == "file") {
    fs::path path = fs::path(list).parent_path() / name;
    if (!fs::exists(path, error))
      return missing("the file '" + path.string() + "'", list);
    item.path = path.string();
  } else if (kind == "library") {
    item.path = loadedLibrary(name);
    if (item.path.empty())
      return missing("the shared library '" + name + "' in mtc itself", list);
  } else if (kind != "objects") {
    return {StatusCode::failed,
            fmt::format("'{}': expected file, library or objects, found '{}'; "
                        "build or install mtc as a whole",
                        list, kind)};
  }
  items.push_back(std::move(item));
  return Status::okay();
}

Status readList(const std::string &name, std::vector<LinkItem> &items) {
  std::string list = fs::path(installFolder()) / "lib/mtc/link" / name;
  std::ifstream file(list);
  if (!file)
    return missing("the list", list);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#')
      MTC_RETURN_IF_ERROR(readItem(line, list, items));
  return Status::okay();
}

} // namespace

Status findToolchain(Toolchain &toolchain) {
  toolchain = {};
  MTC_RETURN_IF_ERROR(readList("executable.txt", toolchain.executable));
  return readList("shared.txt", toolchain.shared);
}

} // namespace mtc::compiler
