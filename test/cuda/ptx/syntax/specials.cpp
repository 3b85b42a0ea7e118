//===- specials.cpp - registers that the machine fills --------------------===//
#include "test/cuda/ptx/syntax/specials.h"

namespace mtc::ptx {
namespace {

// A grid without clusters is one of clusters of one block each.
constexpr SpecialRegister kRegisters[] = {
    {"%tid.x", Special::tidX, Type::u32},
    {"%tid.y", Special::tidY, Type::u32},
    {"%tid.z", Special::tidZ, Type::u32},
    {"%ntid.x", Special::ntidX, Type::u32},
    {"%ntid.y", Special::ntidY, Type::u32},
    {"%ntid.z", Special::ntidZ, Type::u32},
    {"%ctaid.x", Special::ctaidX, Type::u32},
    {"%ctaid.y", Special::ctaidY, Type::u32},
    {"%ctaid.z", Special::ctaidZ, Type::u32},
    {"%nctaid.x", Special::nctaidX, Type::u32},
    {"%nctaid.y", Special::nctaidY, Type::u32},
    {"%nctaid.z", Special::nctaidZ, Type::u32},
    {"%clusterid.x", Special::ctaidX, Type::u32},
    {"%clusterid.y", Special::ctaidY, Type::u32},
    {"%clusterid.z", Special::ctaidZ, Type::u32},
    {"%nclusterid.x", Special::nctaidX, Type::u32},
    {"%nclusterid.y", Special::nctaidY, Type::u32},
    {"%nclusterid.z", Special::nctaidZ, Type::u32},
    {"%cluster_ctaid.x", Special::zero, Type::u32},
    {"%cluster_ctaid.y", Special::zero, Type::u32},
    {"%cluster_ctaid.z", Special::zero, Type::u32},
    {"%cluster_nctaid.x", Special::one, Type::u32},
    {"%cluster_nctaid.y", Special::one, Type::u32},
    {"%cluster_nctaid.z", Special::one, Type::u32},
    {"%cluster_ctarank", Special::zero, Type::u32},
    {"%cluster_nctarank", Special::one, Type::u32},
    {"%laneid", Special::laneid, Type::u32},
    {"%warpid", Special::warpid, Type::u32},
    {"%nwarpid", Special::nwarpid, Type::u32},
    {"%smid", Special::smid, Type::u32},
    {"%nsmid", Special::nsmid, Type::u32},
    {"%gridid", Special::gridid, Type::u64},
    {"%lanemask_eq", Special::lanemaskEq, Type::u32},
    {"%lanemask_le", Special::lanemaskLe, Type::u32},
    {"%lanemask_lt", Special::lanemaskLt, Type::u32},
    {"%lanemask_ge", Special::lanemaskGe, Type::u32},
    {"%lanemask_gt", Special::lanemaskGt, Type::u32},
    {"%dynamic_smem_size", Special::dynamicShared, Type::u32},
    {"%total_smem_size", Special::totalShared, Type::u32},
    {"%clock", Special::clock, Type::u32},
    {"%clock64", Special::clock, Type::u64},
    {"%globaltimer", Special::clock, Type::u64},
    {"%globaltimer_lo", Special::clock, Type::u32},
};

} // namespace

const SpecialRegister *findSpecialRegister(std::string_view name) {
  for (const SpecialRegister &each : kRegisters)
    if (each.name == name)
      return &each;
  return nullptr;
}

} // namespace mtc::ptx
