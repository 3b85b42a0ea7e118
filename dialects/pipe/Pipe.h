//===- Pipe.h - the pipe dialect --------------------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_PIPE_H
#define MTC_DIALECTS_PIPE_H

#include "dialects/Tables.h"
#include "dialects/dist/Dist.h"
#include "dialects/tfm/Tfm.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/pipe/PipeDialect.h.inc"
#include "dialects/pipe/PipeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/pipe/PipeAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.h.inc"

#endif // MTC_DIALECTS_PIPE_H
