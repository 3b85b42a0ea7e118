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

/// The parts as one location, over `place`; `place` itself where there is none.
Location join(ArrayRef<Attribute> parts, Location place) {
  if (parts.size() == 1)
    return NameLoc::get(cast<StringAttr>(parts.front()), place);
  SmallVector<Location> all;
  for (Attribute part : parts)
    all.push_back(NameLoc::get(cast<StringAttr>(part)));
  all.push_back(place);
  return FusedLoc::get(place.getContext(), all);
}

Location namesOf(Location location) {
  return join(contentOf(location).parts.getArrayRef(),
              UnknownLoc::get(location.getContext()));
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
    if (Operation *parent = op->getParentOp(); parent && content.parts.empty())
      content.parts = contentOf(parent->getLoc()).parts;
    op->setLoc(join(content.parts.getArrayRef(),
                    content.place ? Location(content.place)
                                  : UnknownLoc::get(op->getContext())));
  });
}

WrittenLocations::WrittenLocations(ModuleOp module) {
  // Children first: they look at the location of their parent.
  module->walk([&](Operation *op) {
    Location names = namesOf(op->getLoc());
    if (Operation *parent = op->getParentOp();
        parent && namesOf(parent->getLoc()) == names)
      names = UnknownLoc::get(op->getContext());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          arguments.emplace_back(argument, argument.getLoc());
          argument.setLoc(namesOf(argument.getLoc()));
        }
    ops.emplace_back(op, op->getLoc());
    op->setLoc(names);
  });
}

WrittenLocations::~WrittenLocations() {
  for (auto [op, location] : ops)
    op->setLoc(location);
  for (auto [argument, location] : arguments)
    argument.setLoc(location);
}

} // namespace mtc::compiler
