//===- picture.cpp - the file of --svg ------------------------------------===//

#include "tools/mtc/picture.h"

#include "runtime/base/file.h"
#include "tools/mtc/bundle_around.h"

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {

Status checkPicture(const std::string &svg,
                    const std::vector<runtime::NamedFile> &inputs) {
  if (svg.empty())
    return Status::okay();
  if (svg == "-")
    return {StatusCode::usage,
            "--svg: expected a file, found '-': the answer goes to standard "
            "output; './-' is a file of that name"};
  runtime::CommandFiles files{bundleAround(svg), inputs, {{"--svg", svg}}};
  MTC_RETURN_IF_ERROR(runtime::checkFiles(files));
  return runtime::checkWritable(runtime::behindLinks(svg));
}

} // namespace mtc::tool
