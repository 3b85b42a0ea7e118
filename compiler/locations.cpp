//===- locations.cpp - parts of the model as locations --------------------===//

#include "compiler/locations.h"

#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SourceMgr.h"

#include <fmt/format.h>

using namespace mlir;

namespace mtc::compiler {
namespace {

/// What a location says.
struct Content {
  llvm::SmallSetVector<Attribute, 4> parts; ///< names, in order
  FileLineColLoc place;                     ///< the first; null: none
};

void read(Location location, Content &content) {
  if (auto named = dyn_cast<NameLoc>(location)) {
    content.parts.insert(named.getName());
    read(named.getChildLoc(), content);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      read(part, content);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    read(call.getCallee(), content);
  } else if (auto file = dyn_cast<FileLineColLoc>(location);
             file && !content.place) {
    content.place = file;
  }
}

Content contentOf(Location location) {
  Content content;
  read(location, content);
  return content;
}

/// As a location: the parts over the place, the place itself where there is
/// none.
Location toLocation(const Content &content, MLIRContext *context) {
  Location place = content.place ? Location(content.place)
                                 : Location(UnknownLoc::get(context));
  if (content.parts.size() == 1)
    return NameLoc::get(cast<StringAttr>(content.parts.front()), place);
  SmallVector<Location> all;
  for (Attribute part : content.parts)
    all.push_back(NameLoc::get(cast<StringAttr>(part)));
  all.push_back(place);
  return FusedLoc::get(context, all);
}

/// What has no part of its own is of the part of the op around it.
void inheritParts(Content &content, Operation *around) {
  if (around && content.parts.empty())
    content.parts = contentOf(around->getLoc()).parts;
}

Location namesOf(Location location) {
  Content content = contentOf(location);
  content.place = {};
  return toLocation(content, location.getContext());
}

/// What is written of a location: nothing if it is that of the op around it.
Location writtenIn(Operation *around, Location location) {
  Location names = namesOf(location);
  return around && namesOf(around->getLoc()) == names
             ? Location(UnknownLoc::get(location.getContext()))
             : names;
}

} // namespace

std::string describe(Location location) {
  Content content = contentOf(location);
  std::string text;
  if (content.place)
    text = fmt::format("{}:{}:{}: ", content.place.getFilename().str(),
                       content.place.getLine(), content.place.getColumn());
  for (auto [i, part] : llvm::enumerate(content.parts))
    text += (i ? ", " : "") + cast<StringAttr>(part).str();
  return text + (content.parts.empty() ? "" : ": ");
}

void locate(ModuleOp module, const AsmParserState &read,
            llvm::SourceMgr &sources) {
  llvm::DenseMap<Operation *, llvm::SMLoc> starts; // looked up only
  for (const AsmParserState::OperationDefinition &op : read.getOpDefs())
    starts[op.op] = op.loc.Start;
  StringRef file =
      sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
  auto name = StringAttr::get(module.getContext(), file);
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Content content = contentOf(op->getLoc());
    if (auto start = starts.find(op); start != starts.end()) {
      auto [line, column] = sources.getLineAndColumn(start->second);
      content.place = FileLineColLoc::get(name, line, column);
    }
    inheritParts(content, op->getParentOp());
    op->setLoc(toLocation(content, op->getContext()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments()) {
        Content own = contentOf(argument.getLoc());
        inheritParts(own, op);
        argument.setLoc(toLocation(own, op->getContext()));
      }
  });
}

WrittenLocations::WrittenLocations(ModuleOp module) {
  // Children first: they look at the location of their parent.
  module->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          arguments.emplace_back(argument, argument.getLoc());
          argument.setLoc(writtenIn(op, argument.getLoc()));
        }
    ops.emplace_back(op, op->getLoc());
    op->setLoc(writtenIn(op->getParentOp(), op->getLoc()));
  });
}

WrittenLocations::~WrittenLocations() {
  for (auto [op, location] : ops)
    op->setLoc(location);
  for (auto [argument, location] : arguments)
    argument.setLoc(location);
}

} // namespace mtc::compiler
