//===- Tables.h - reading and printing rows of tables -----------*- C++ -*-===//
#ifndef MTC_DIALECTS_TABLES_H
#define MTC_DIALECTS_TABLES_H

#include "mtc/runtime/memory.h"
#include "mtc/runtime/mesh.h"
#include "mtc/runtime/step_field.h"

#include "mlir/IR/OpImplementation.h"

namespace mtc {

/// `<a, b, ...>`, which may be empty. With Delimiter::LessGreater MLIR 22 says
/// that a `<` is lacking and reports success.
inline mlir::ParseResult
parseAngleList(mlir::AsmParser &parser,
               llvm::function_ref<mlir::ParseResult()> parseElement) {
  if (parser.parseLess())
    return mlir::failure();
  if (mlir::succeeded(parser.parseOptionalGreater()))
    return mlir::success();
  return mlir::failure(parser.parseCommaSeparatedList(parseElement) ||
                       parser.parseGreater());
}

/// The table of a number of the ABI, and what a row is, for messages.
template <typename Id> struct Table;
/// Most tables may be named whole.
struct WholeTable {
  template <typename Info> static bool isNamed(const Info &) { return true; }
};
template <> struct Table<MtcArena> : WholeTable {
  static constexpr auto &rows = kArenas;
  static constexpr llvm::StringLiteral what = "an arena";
};
template <> struct Table<MtcAxis> : WholeTable {
  static constexpr auto &rows = kAxes;
  static constexpr llvm::StringLiteral what = "an axis";
};
template <> struct Table<MtcGroup> : WholeTable {
  static constexpr auto &rows = kGroups;
  static constexpr llvm::StringLiteral what = "a group";
};
template <> struct Table<StepField> {
  static constexpr auto &rows = kStepFields;
  static constexpr llvm::StringLiteral what =
      "a field of the step block that kernels read";
  static bool isNamed(const StepFieldInfo &field) {
    return field.reader == StepReader::Kernels;
  }
};

template <typename Id> llvm::StringRef nameOf(Id id) {
  return Table<Id>::rows[id].name;
}

/// Reads the name of a row; an error lists the names there are.
template <typename Id> mlir::FailureOr<Id> parseNamed(mlir::AsmParser &parser) {
  llvm::SMLoc place = parser.getCurrentLocation();
  llvm::StringRef name;
  if (parser.parseOptionalKeyword(&name).succeeded())
    if (std::optional<Id> id = idNamed(Table<Id>::rows, name);
        id && Table<Id>::isNamed(Table<Id>::rows[*id]))
      return *id;
  auto diag =
      parser.emitError(place, "expected ")
      << Table<Id>::what << " ("
      << namesOf(Table<Id>::rows,
                 [](const auto &row) { return Table<Id>::isNamed(row); })
      << ")";
  if (!name.empty())
    diag << ", found " << name;
  return diag;
}

/// Pools are rows of a table, and those of further values that cross.
inline std::string nameOf(MtcPool pool) { return poolName(pool); }
template <>
mlir::FailureOr<MtcPool> parseNamed<MtcPool>(mlir::AsmParser &parser);

/// Reads `activation`, `gradient`, `activation.1`.
mlir::FailureOr<CrossingName> parseCrossingName(mlir::AsmParser &parser);
inline llvm::hash_code hash_value(const CrossingName &name) {
  return llvm::hash_combine(name.gradient, name.number);
}

} // namespace mtc
#endif // MTC_DIALECTS_TABLES_H
