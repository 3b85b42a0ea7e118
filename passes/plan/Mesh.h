//===- Mesh.h - the mesh of a plan ------------------------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_MESH_H
#define MTC_PASSES_PLAN_MESH_H

#include "mtc/runtime/mesh.h"
#include "passes/pipeline/Config.h"

namespace mtc::passes {

/// The ranks along each axis, as mtc.config has them; 1 where it says nothing.
inline Mesh meshOf(const Config &config) {
  Mesh mesh;
  for (const AxisInfo &axis : kAxes)
    mesh[axis.id] = config.number(axis.name, 1);
  return mesh;
}

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_MESH_H
