//===- Rows.h - the rows of an rt.timeline ----------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_ROWS_H
#define MTC_DIALECTS_RT_ROWS_H

#include "dialects/pipe/RowTable.h"

namespace mtc::rt {

/// What a row does. Load and Run are an `rt.step`, the others an `rt.exchange`,
/// which is whole, posts, or waits.
enum class RowKind : uint8_t { Load, Run, Exchange, Post, Wait };

/// A send or a receive (#rt.transfer).
struct Transfer {
  bool send = true;
  int64_t peer = 0; ///< a stage
  Tag tag;
  int64_t offset = 0, bytes = 0; ///< in the activation arena
  bool operator==(const Transfer &) const = default;
};
llvm::hash_code hash_value(const Transfer &transfer);

/// A row as a table has it.
struct RowData {
  RowKind kind = RowKind::Load;
  int32_t fragment = -1; ///< its name; -1: none
  std::optional<int64_t> microbatch = {};
  pipe::RowSpan slots = {}, transfers = {};
  bool operator==(const RowData &) const = default;
};
llvm::hash_code hash_value(const RowData &row);

using RowTable = pipe::RowTable<RowData, Transfer>;

/// One row of a timeline, for readers. Valid as long as the timeline has its
/// rows.
class Row {
public:
  Row(const RowTable &table, const RowData &data)
      : table(&table), data(&data) {}

  bool isLoad() const { return data->kind == RowKind::Load; }
  bool isRun() const { return data->kind == RowKind::Run; }
  bool isStep() const { return isLoad() || isRun(); }
  bool isExchange() const { return !isStep(); }
  bool posts() const { return data->kind == RowKind::Post; }
  bool waits() const { return data->kind == RowKind::Wait; }
  /// As the text calls it: rt.step or rt.exchange.
  llvm::StringRef getName() const;
  /// The index of its fragment's name in the table; -1: none.
  int32_t fragmentIndex() const { return data->fragment; }
  /// The name of its fragment; null: none.
  mlir::StringAttr getFragment() const {
    return data->fragment < 0 ? mlir::StringAttr()
                              : table->names[data->fragment];
  }
  std::optional<int64_t> getMicrobatch() const { return data->microbatch; }
  std::optional<pipe::SlotList> getSlots() const {
    return table->slotsOf(*data);
  }
  /// The slot of a pool that it uses, if it does.
  std::optional<int64_t> slot(MtcPool pool) const {
    std::optional<pipe::SlotList> slots = getSlots();
    return slots ? slots->of(pool) : std::nullopt;
  }
  /// Of an exchange.
  llvm::ArrayRef<Transfer> getTransfers() const {
    return table->transfersOf(*data);
  }

private:
  const RowTable *table;
  const RowData *data;
};

/// The rows of a timeline, in order.
class Rows : public pipe::SharedRows<RowTable> {
public:
  Rows() = default;
  explicit Rows(RowTable table) : SharedRows(std::move(table)) {}
  Rows(SharedRows rows) : SharedRows(std::move(rows)) {}

  Row operator[](size_t row) const {
    return {getTable(), getTable().rows[row]};
  }
  /// All of them, as a range of Row.
  auto all() const {
    const RowTable &table = getTable();
    return llvm::map_range(
        table.rows, [&table](const RowData &row) { return Row(table, row); });
  }
  /// The same rows with other names of fragments: `rename` gives each.
  Rows
  renamed(llvm::function_ref<mlir::StringAttr(mlir::StringAttr)> rename) const;
};

/// Writes rows.
using RowWriter = pipe::RowWriter<RowTable>;

/// What is wrong with a row, as a sentence that follows the name of its op;
/// empty: nothing.
std::string problemOf(const Row &row);

/// What is wrong with a tag, as a sentence; empty: nothing.
std::string problemOf(const Tag &tag);

/// For bytecode and the generic form: rows as one string of their text.
mlir::Attribute convertToAttribute(mlir::MLIRContext *context,
                                   const Rows &rows);
/// Reads such a string; `emitError` may be null.
mlir::LogicalResult
convertFromAttribute(Rows &rows, mlir::Attribute text,
                     llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// A transfer as text, `#rt.transfer<...>`.
std::string textOf(const Transfer &transfer);

/// The text of a row behind the name of its op.
void printRow(llvm::raw_ostream &out, const Rows &rows, size_t row);

/// The rows of a timeline in its text, in braces.
mlir::ParseResult parseRows(mlir::OpAsmParser &parser, Rows &rows);
void printRows(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               const Rows &rows);

} // namespace mtc::rt
#endif // MTC_DIALECTS_RT_ROWS_H
