//===- RowTable.h - rows of a timeline as data ------------------*- C++ -*-===//
//
// A plan has rows for each microbatch of each stage, hundreds of thousands of
// them, so they are no ops: a timeline holds them in flat lists, which are
// written once and then shared by whoever has them. In text a row is a line
// that reads like an op, and a parser of that op reads it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIALECTS_PIPE_ROWTABLE_H
#define MTC_DIALECTS_PIPE_ROWTABLE_H

#include "mtc/runtime/memory.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::pipe {

/// The slots that a row names: by pool, up to the last that is named.
class SlotList {
public:
  static constexpr int32_t kNone = -1;

  explicit SlotList(llvm::ArrayRef<int32_t> numbers) : numbers(numbers) {}
  /// The slot of a pool, if the row names one.
  std::optional<int64_t> of(MtcPool pool) const {
    if (size_t(pool) >= numbers.size() || numbers[pool] == kNone)
      return std::nullopt;
    return numbers[pool];
  }
  /// By pool; kNone: not named. The last one is.
  llvm::ArrayRef<int32_t> getNumbers() const { return numbers; }

private:
  llvm::ArrayRef<int32_t> numbers;
};

/// A part of a flat list.
struct RowSpan {
  int32_t first = 0;
  int32_t count = -1; ///< -1: the row has none
  bool operator==(const RowSpan &) const = default;
};

/// The flat lists of a timeline. `Row` and `Transfer` are plain structs with
/// `==` and `hash_value`.
template <typename Row, typename Transfer> struct RowTable {
  std::vector<Row> rows;
  std::vector<Transfer> transfers;
  std::vector<int32_t> slots;          ///< see SlotList
  std::vector<mlir::StringAttr> names; ///< that rows have, each once
  /// Attributes that a row has beside its own, of few rows or none; by row.
  std::vector<std::pair<size_t, mlir::DictionaryAttr>> further;
  /// Of rows that were read from text, where each stands; else empty. Not a
  /// part of what the rows are.
  std::vector<mlir::LocationAttr> places;

  bool operator==(const RowTable &other) const {
    return rows == other.rows && transfers == other.transfers &&
           slots == other.slots && names == other.names &&
           further == other.further;
  }
  llvm::ArrayRef<Transfer> transfersOf(const Row &row) const {
    return llvm::ArrayRef(transfers).slice(row.transfers.first,
                                           std::max(row.transfers.count, 0));
  }
  /// Nothing if the row has no list of slots, which may also be empty.
  std::optional<SlotList> slotsOf(const Row &row) const {
    if (row.slots.count < 0)
      return std::nullopt;
    return SlotList(
        llvm::ArrayRef(slots).slice(row.slots.first, row.slots.count));
  }
  /// Null if the row has none.
  mlir::DictionaryAttr furtherOf(size_t row) const {
    auto found = llvm::lower_bound(
        further, row, [](auto &each, size_t at) { return each.first < at; });
    return found != further.end() && found->first == row
               ? found->second
               : mlir::DictionaryAttr();
  }
};

/// A table that nobody changes any more.
template <typename Table> class SharedRows {
public:
  SharedRows() = default;
  explicit SharedRows(Table made)
      : table(std::make_shared<const Table>(std::move(made))) {}

  const Table &getTable() const {
    static const Table none;
    return table ? *table : none;
  }
  size_t size() const { return getTable().rows.size(); }
  bool empty() const { return size() == 0; }
  bool operator==(const SharedRows &other) const {
    return table == other.table || getTable() == other.getTable();
  }
  friend llvm::hash_code hash_value(const SharedRows &rows) {
    const Table &table = rows.getTable();
    auto hashOf = [](const auto &list) {
      return llvm::hash_combine_range(list.begin(), list.end());
    };
    return llvm::hash_combine(hashOf(table.rows), hashOf(table.transfers),
                              hashOf(table.slots), hashOf(table.names));
  }

private:
  std::shared_ptr<const Table> table; ///< null: no rows
};

/// Fills a table, row by row.
template <typename Table> class RowWriter {
public:
  /// The index of a name.
  int32_t add(mlir::StringAttr name) {
    auto [it, isNew] = numbers.try_emplace(name, table.names.size());
    if (isNew)
      table.names.push_back(name);
    return it->second;
  }
  /// Slots by pool, SlotList::kNone where a pool is not named.
  template <typename Numbers> RowSpan addSlots(const Numbers &slots) {
    RowSpan span{static_cast<int32_t>(table.slots.size()), 0};
    for (auto slot : slots) {
      table.slots.push_back(static_cast<int32_t>(slot));
      if (slot != SlotList::kNone)
        span.count = static_cast<int32_t>(table.slots.size()) - span.first;
    }
    table.slots.resize(span.first + span.count);
    return span;
  }
  /// The transfers of a row.
  template <typename Transfer>
  RowSpan addTransfers(llvm::ArrayRef<Transfer> transfers) {
    RowSpan span{static_cast<int32_t>(table.transfers.size()),
                 static_cast<int32_t>(transfers.size())};
    table.transfers.insert(table.transfers.end(), transfers.begin(),
                           transfers.end());
    return span;
  }
  template <typename Row> void addRow(const Row &row) {
    table.rows.push_back(row);
  }
  /// Of the row that was added last: what it has beside its own, and where it
  /// stands in a text. Of a text all rows have a place.
  void addText(mlir::DictionaryAttr further, mlir::LocationAttr place) {
    if (further && !further.empty())
      table.further.push_back({table.rows.size() - 1, further});
    table.places.push_back(place);
  }
  void reserve(size_t rows) { table.rows.reserve(rows); }
  SharedRows<Table> finish() { return SharedRows<Table>(std::move(table)); }

private:
  Table table;
  llvm::DenseMap<mlir::StringAttr, int32_t> numbers; ///< looked up only
};

/// Reads rows in braces. `parseRow` gets the place and the name of each, reads
/// the rest of it, and keeps it.
mlir::ParseResult parseRowLines(
    mlir::OpAsmParser &parser,
    llvm::function_ref<mlir::ParseResult(mlir::OperationState &)> parseRow);

/// Writes so many rows in braces, each on a line.
void printRowLines(mlir::OpAsmPrinter &printer, size_t rows,
                   llvm::function_ref<void(llvm::raw_ostream &, size_t)> print);

/// `<pool = slot, ...>`.
void printSlots(llvm::raw_ostream &out, SlotList slots);

/// What is wrong with the slots of a row, or with a number of a pool, as a
/// sentence; empty: nothing.
std::string problemOf(SlotList slots);
std::string problemOf(MtcPool pool, int64_t number);

/// ` {name = value}`, or nothing of null.
void printFurther(llvm::raw_ostream &out, mlir::DictionaryAttr further);

/// Asks the dialects of further attributes, as for those of an op.
mlir::LogicalResult
verifyFurther(mlir::Operation *timeline,
              llvm::ArrayRef<std::pair<size_t, mlir::DictionaryAttr>> further);

/// Where a row is: its place, if it was read from text, and the part of its
/// timeline.
mlir::Location placeOfRow(mlir::Operation *timeline,
                          llvm::ArrayRef<mlir::LocationAttr> places,
                          size_t row);

/// For bytecode and the generic form: rows as one string of their text.
mlir::Attribute
textOfRows(mlir::MLIRContext *context, size_t rows,
           llvm::function_ref<void(llvm::raw_ostream &, size_t)> print);

/// Reads such a string into `block`, as the rows of the timeline that begins
/// with `head`. Gives the timeline; null, with a diagnostic of `emitError`,
/// which may be null, if it is no such string.
mlir::Operation *
readTextOfRows(llvm::StringRef head, mlir::Attribute text, mlir::Block &block,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Moves those of the attributes that a parser found behind a row and that the
/// row has itself to its properties; what is left are further ones. Fails, with
/// a diagnostic, if one has another type.
template <typename Op>
mlir::FailureOr<mlir::DictionaryAttr>
takeFurther(mlir::OperationState &state, typename Op::Properties &row) {
  mlir::MLIRContext *context = state.getContext();
  auto emitError = [&] {
    return mlir::emitError(state.location) << "'" << state.name << "' op ";
  };
  mlir::NamedAttrList own;
  Op::populateInherentAttrs(context, row, own);
  llvm::SmallVector<mlir::NamedAttribute> further;
  for (mlir::NamedAttribute attribute : state.attributes)
    if (Op::getInherentAttr(context, row, attribute.getName()))
      own.set(attribute.getName(), attribute.getValue());
    else
      further.push_back(attribute);
  if (failed(Op::verifyInherentAttrs(state.name, own, emitError)))
    return mlir::failure();
  for (mlir::NamedAttribute attribute : own)
    Op::setInherentAttr(row, attribute.getName(), attribute.getValue());
  return mlir::DictionaryAttr::get(context, further);
}

} // namespace mtc::pipe
#endif // MTC_DIALECTS_PIPE_ROWTABLE_H
