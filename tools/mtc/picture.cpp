//===- picture.cpp - the file of --svg ------------------------------------===//

#include "tools/mtc/picture.h"

#include "runtime/base/file.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {

Status checkPicture(const std::string &svg,
                    const std::vector<runtime::NamedFile> &inputs,
                    const char *option) {
  if (svg.empty())
    return Status::okay();
  if (svg == "-")
    return {StatusCode::usage,
            fmt::format("{}: expected a file, found '-': the answer goes to "
                        "standard output; './-' is a file of that name",
                        option)};
  runtime::CommandFiles files;
  files.inputs = inputs;
  files.outputs = {{option, svg}};
  MTC_RETURN_IF_ERROR(runtime::checkFiles(files));
  return runtime::checkWritable(runtime::behindLinks(svg));
}

} // namespace mtc::tool
