//===- environment.cpp - what children inherit ----------------------------===//

#include "runtime/control/environment.h"

#include <cstring>

extern char **environ;

namespace mtc::runtime {

static bool startsWith(const char *text, const std::string &prefix) {
  return std::strncmp(text, prefix.c_str(), prefix.size()) == 0;
}

std::vector<std::string>
environmentWith(const std::vector<std::string> &variables) {
  std::vector<std::string> out;
  for (char **at = environ; *at; ++at) {
    bool replaced = false;
    for (const std::string &variable : variables)
      replaced |= startsWith(*at, variable.substr(0, variable.find('=') + 1));
    if (!replaced)
      out.push_back(*at);
  }
  out.insert(out.end(), variables.begin(), variables.end());
  return out;
}

} // namespace mtc::runtime
