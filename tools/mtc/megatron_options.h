//===- megatron_options.h - options of Megatron-LM that are not ours -----===//
#ifndef MTC_TOOLS_MTC_MEGATRON_OPTIONS_H
#define MTC_TOOLS_MTC_MEGATRON_OPTIONS_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace mtc::tool {

/// Which commands a name is given to.
enum class MegatronUse { compile, run };

/// Takes options of Megatron-LM that are no other names of ours, as their
/// meaning is not equal, to say what to do. Help does not show them.
class MegatronOptions {
public:
  /// This must live as long as `sub`, whose own options they are not.
  void addTo(CLI::App &sub, MegatronUse use);

  /// A line for each that was given.
  const std::vector<std::string> &found() const { return found_; }

  /// Errors: usage, all that were given.
  runtime::Status check() const;

private:
  std::vector<std::string> found_;
};

/// Arguments of `mtc`, its name first, in which the words behind Megatron-LM's
/// --data-path of `mtc run` and `mtc profile` are one, as --data has them.
/// Other options of ours have one word, and what follows may be the bundle.
std::vector<std::string> withDataInOneWord(std::vector<std::string> arguments);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_MEGATRON_OPTIONS_H
