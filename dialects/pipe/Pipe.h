//===- Pipe.h - the pipe dialect --------------------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_PIPE_H
#define MTC_DIALECTS_PIPE_H

#include "dialects/Tables.h"
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Rows.h"
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

namespace mtc::pipe {

/// The text of an exchange, of any level: its part, if it has one, and its
/// transfers.
mlir::ParseResult parseExchange(mlir::OpAsmParser &parser,
                                ExchangePartAttr &part,
                                mlir::ArrayAttr &transfers);
void printExchange(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   ExchangePartAttr part, mlir::ArrayAttr transfers);

} // namespace mtc::pipe

#endif // MTC_DIALECTS_PIPE_H
