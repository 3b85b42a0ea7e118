//===- gpu_chips.h - the architectures that programs are made for *- C++
//-*-===//
//
// Plain C++: strategies name them, the compiler makes code for them, and a rank
// chooses the code for its GPU.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_GPU_CHIPS_H
#define MTC_RUNTIME_GPU_CHIPS_H

#include <string>
#include <string_view>
#include <vector>

namespace mtc {

struct GpuChip {
  std::string_view name; ///< as ptxas knows it
  int capability;        ///< 90 of 9.0
  bool isAlone;          ///< no newer GPU runs its code
};

/// Oldest first; of one capability the one whose code runs alone is last. Older
/// ones lack what attention and norm take.
inline constexpr GpuChip kGpuChips[] = {
    {"sm_80", 80, false},  {"sm_86", 86, false}, {"sm_89", 89, false},
    {"sm_90", 90, false},  {"sm_90a", 90, true}, {"sm_100", 100, false},
    {"sm_120", 120, false}};

/// In front of chips, in `target` of a strategy and `device` of a descriptor.
inline constexpr std::string_view kGpuTarget = "cuda:";

/// The chip of a name; null if there is none.
constexpr const GpuChip *gpuChipNamed(std::string_view name) {
  for (const GpuChip &chip : kGpuChips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

/// The names of "cuda:sm_80,sm_90a", in their order; none of "cpu".
inline std::vector<std::string> gpuChipsOf(std::string_view target) {
  std::vector<std::string> names;
  if (!target.starts_with(kGpuTarget))
    return names;
  for (target.remove_prefix(kGpuTarget.size());;) {
    size_t comma = target.find(',');
    names.emplace_back(target.substr(0, comma));
    if (comma == std::string_view::npos)
      return names;
    target.remove_prefix(comma + 1);
  }
}

/// Whether a GPU of a capability runs code that is made for a chip.
constexpr bool runsCodeOf(const GpuChip &chip, int capability) {
  return chip.isAlone ? chip.capability == capability
                      : chip.capability <= capability;
}

/// The newest of some chips whose code a GPU of a capability runs; null: none.
/// Names that are no chip's are passed over.
inline const GpuChip *gpuChipFor(const std::vector<std::string> &names,
                                 int capability) {
  const GpuChip *newest = nullptr;
  for (const std::string &name : names)
    if (const GpuChip *chip = gpuChipNamed(name);
        chip && runsCodeOf(*chip, capability) && (!newest || chip > newest))
      newest = chip;
  return newest;
}

/// The GPUs that run code for one of some chips, in words: "a GPU of sm_90a
/// alone, or of sm_100 or newer".
inline std::string describeGpusOf(const std::vector<std::string> &names) {
  std::string alone, oldest;
  for (const std::string &name : names)
    if (const GpuChip *chip = gpuChipNamed(name); chip && chip->isAlone)
      alone += (alone.empty() ? "" : ", ") + name;
    else if (oldest.empty())
      oldest = name;
  std::string text = oldest.empty() ? "" : oldest + " or newer";
  if (!alone.empty())
    text = alone + " alone" + (text.empty() ? "" : ", or of " + text);
  return "a GPU of " + text;
}

} // namespace mtc
#endif // MTC_RUNTIME_GPU_CHIPS_H
