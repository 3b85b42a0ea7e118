//===- Rows.h - the rows of a pipe.timeline ---------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_PIPE_ROWS_H
#define MTC_DIALECTS_PIPE_ROWS_H

#include "dialects/pipe/RowTable.h"

namespace mtc::pipe {

enum class Form : uint32_t;

/// What a row does. The others than Slot are a `pipe.exchange`, which is whole,
/// posts, or waits.
enum class RowKind : uint8_t { Slot, Exchange, Post, Wait };

/// A send or a receive (#pipe.transfer).
struct Transfer {
  bool send = true;
  CrossingName value;
  int64_t microbatch = 0;
  int64_t virtualStage = 0; ///< that made the value
  int64_t peer = 0;         ///< a stage
  int64_t slot = 0;         ///< of the pool of the value
  bool operator==(const Transfer &) const = default;
};
llvm::hash_code hash_value(const Transfer &transfer);

/// A row as a table has it.
struct RowData {
  RowKind kind = RowKind::Slot;
  Form form = {};
  int32_t phase = -1; ///< of a slot: its name
  int64_t microbatch = 0, chunk = 0;
  RowSpan slots = {}, transfers = {};
  bool operator==(const RowData &) const = default;
};
llvm::hash_code hash_value(const RowData &row);

using TimelineTable = RowTable<RowData, Transfer>;

/// One row of a timeline, for readers. Valid as long as the timeline has its
/// rows.
class Row {
public:
  Row(const TimelineTable &table, const RowData &data)
      : table(&table), data(&data) {}

  bool isSlot() const { return data->kind == RowKind::Slot; }
  bool isExchange() const { return !isSlot(); }
  bool posts() const { return data->kind == RowKind::Post; }
  bool waits() const { return data->kind == RowKind::Wait; }
  /// As the text calls it: pipe.slot or pipe.exchange.
  llvm::StringRef getName() const;

  /// Of a slot: the letter of its phase, and the index of that in the table.
  llvm::StringRef getPhase() const {
    return table->names[data->phase].getValue();
  }
  int32_t phaseIndex() const { return data->phase; }
  int64_t getMicrobatch() const { return data->microbatch; }
  int64_t getChunk() const { return data->chunk; }
  Form getForm() const { return data->form; }
  SlotList getSlots() const {
    return table->slotsOf(*data).value_or(SlotList({}));
  }
  /// Of an exchange.
  llvm::ArrayRef<Transfer> getTransfers() const {
    return table->transfersOf(*data);
  }

private:
  const TimelineTable *table;
  const RowData *data;
};

/// The rows of a timeline, in order.
class Rows : public SharedRows<TimelineTable> {
public:
  Rows() = default;
  explicit Rows(TimelineTable table) : SharedRows(std::move(table)) {}
  Rows(SharedRows rows) : SharedRows(std::move(rows)) {}

  Row operator[](size_t row) const {
    return {getTable(), getTable().rows[row]};
  }
  /// All of them, as a range of Row.
  auto all() const {
    const TimelineTable &table = getTable();
    return llvm::map_range(
        table.rows, [&table](const RowData &row) { return Row(table, row); });
  }
};

/// Writes rows.
using TimelineWriter = RowWriter<TimelineTable>;

/// For bytecode and the generic form: rows as one string of their text.
mlir::Attribute convertToAttribute(mlir::MLIRContext *context,
                                   const Rows &rows);
/// Reads such a string; `emitError` may be null.
mlir::LogicalResult
convertFromAttribute(Rows &rows, mlir::Attribute text,
                     llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The rows of a timeline in its text, in braces.
mlir::ParseResult parseRows(mlir::OpAsmParser &parser, Rows &rows);
void printRows(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               const Rows &rows);

} // namespace mtc::pipe
#endif // MTC_DIALECTS_PIPE_ROWS_H
