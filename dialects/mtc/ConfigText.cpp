//===- ConfigText.cpp - the text form of the configuration ----------------===//
#include "dialects/Tables.h"
#include "dialects/mtc/Fields.h"

using namespace mlir;
using namespace mtc;

namespace {

//===--- fields, in the order in which they are printed -------------------===//

struct ModelFields {
  std::string name;
  int64_t layers = 0, hidden = 0, vocab = 0, paddedVocab = 0;
  template <typename Visit> void each(Visit visit) {
    visit("name", name);
    visit("layers", layers);
    visit("hidden", hidden);
    visit("vocab", vocab);
    visit("padded_vocab", paddedVocab);
  }
};

struct BatchFields {
  int64_t micro = 0, microbatches = 0, global = 0, sequence = 0;
  template <typename Visit> void each(Visit visit) {
    visit("micro", micro);
    visit("microbatches", microbatches);
    visit("global", global);
    visit("sequence", sequence);
  }
};

struct ScheduleFields {
  std::string name;
  int64_t chunks = 0;
  DenseI64ArrayAttr layersPerStage;
  std::optional<int64_t> group;
  ArrayAttr slots;
  template <typename Visit> void each(Visit visit) {
    visit("name", name);
    visit("chunks", chunks);
    visit("layers_per_stage", layersPerStage);
    visit("group", group);
    visit("slots", slots);
  }
};

struct OptimizerFields {
  OptimizerKind kind = OptimizerKind::AdamW;
  int64_t zero = 0, bucketSize = 0;
  std::optional<FlatLayout> layout;
  std::optional<Precision> gradDtype;
  ArrayAttr groups;
  template <typename Visit> void each(Visit visit) {
    visit("kind", kind);
    visit("zero", zero);
    visit("bucket_size", bucketSize);
    visit("layout", layout);
    visit("grad_dtype", gradDtype);
    visit("groups", groups);
  }
};

struct TargetFields {
  std::string device;
  StringAttr isa;
  int64_t threads = 0;
  std::optional<int64_t> streams;
  std::optional<int64_t> memory;
  std::optional<int64_t> ranksPerHost;
  ArrayAttr epilogues;
  std::optional<GemmChoice> gemm;
  std::optional<Prepack> prepack;
  template <typename Visit> void each(Visit visit) {
    visit("device", device);
    visit("isa", isa);
    visit("threads", threads);
    visit("streams", streams);
    visit("memory", memory);
    visit("ranks_per_host", ranksPerHost);
    visit("epilogues", epilogues);
    visit("gemm", gemm);
    visit("prepack", prepack);
  }
};

struct RecomputeFields {
  RecomputePolicy policy = RecomputePolicy::Full;
  std::optional<int64_t> layers;
  ArrayAttr families;
  std::optional<int64_t> microbatches;
  template <typename Visit> void each(Visit visit) {
    visit("policy", policy);
    visit("layers", layers);
    visit("families", families);
    visit("microbatches", microbatches);
  }
};

struct ConfigFields {
  ModelAttr model;
  Mesh mesh;
  BatchAttr batch;
  Precision precision = Precision::F32;
  ScheduleAttr schedule;
  OptimizerAttr optimizer;
  TargetAttr target;
  RecomputeAttr recompute;
  ArrayAttr overlap;
  template <typename Visit> void each(Visit visit) {
    visit("model", model);
    visit("mesh", mesh);
    visit("batch", batch);
    visit("precision", precision);
    visit("schedule", schedule);
    visit("optimizer", optimizer);
    visit("target", target);
    visit("recompute", recompute);
    visit("overlap", overlap);
  }
};

/// `make` gives the parameters of the attribute, from its fields.
template <typename Attr, typename Fields, typename Make>
Attribute parseAttr(AsmParser &parser, Make make) {
  SMLoc at = parser.getCurrentLocation();
  Fields fields;
  if (parseFields(parser, fields))
    return {};
  return std::apply(
      [&](auto... parameters) -> Attribute {
        return parser.getChecked<Attr>(at, parser.getContext(), parameters...);
      },
      make(fields));
}

} // namespace

//===--- the attributes ---------------------------------------------------===//

Attribute ModelAttr::parse(AsmParser &parser, Type) {
  return parseAttr<ModelAttr, ModelFields>(parser, [](ModelFields &f) {
    return std::tuple(StringRef(f.name), f.layers, f.hidden, f.vocab,
                      f.paddedVocab);
  });
}
void ModelAttr::print(AsmPrinter &printer) const {
  printFields(printer, ModelFields{getName().str(), getLayers(), getHidden(),
                                   getVocab(), getPaddedVocab()});
}

Attribute BatchAttr::parse(AsmParser &parser, Type) {
  return parseAttr<BatchAttr, BatchFields>(parser, [](BatchFields &f) {
    return std::tuple(f.micro, f.microbatches, f.global, f.sequence);
  });
}
void BatchAttr::print(AsmPrinter &printer) const {
  printFields(printer, BatchFields{getMicro(), getMicrobatches(), getGlobal(),
                                   getSequence()});
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  return parseAttr<ScheduleAttr, ScheduleFields>(parser, [](ScheduleFields &f) {
    return std::tuple(StringRef(f.name), f.chunks, f.layersPerStage, f.group,
                      f.slots);
  });
}
void ScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              ScheduleFields{getName().str(), getChunks(), getLayersPerStage(),
                             getGroup(), getSlots()});
}

Attribute OptimizerAttr::parse(AsmParser &parser, Type) {
  return parseAttr<OptimizerAttr, OptimizerFields>(
      parser, [](OptimizerFields &f) {
        return std::tuple(f.kind, f.zero, f.bucketSize, f.layout, f.gradDtype,
                          f.groups);
      });
}
void OptimizerAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              OptimizerFields{getKind(), getZero(), getBucketSize(),
                              getLayout(), getGradDtype(), getGroups()});
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  return parseAttr<TargetAttr, TargetFields>(parser, [](TargetFields &f) {
    return std::tuple(StringRef(f.device), f.isa, f.threads, f.streams,
                      f.memory, f.ranksPerHost, f.epilogues, f.gemm, f.prepack);
  });
}
void TargetAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              TargetFields{getDevice().str(), getIsa(), getThreads(),
                           getStreams(), getMemory(), getRanksPerHost(),
                           getEpilogues(), getGemm(), getPrepack()});
}

Attribute RecomputeAttr::parse(AsmParser &parser, Type) {
  return parseAttr<RecomputeAttr, RecomputeFields>(
      parser, [](RecomputeFields &f) {
        return std::tuple(f.policy, f.layers, f.families, f.microbatches);
      });
}
void RecomputeAttr::print(AsmPrinter &printer) const {
  printFields(printer, RecomputeFields{getPolicy(), getLayers(), getFamilies(),
                                       getMicrobatches()});
}

Attribute ConfigAttr::parse(AsmParser &parser, Type) {
  return parseAttr<ConfigAttr, ConfigFields>(parser, [](ConfigFields &f) {
    return std::tuple(f.model, f.mesh, f.batch, f.precision, f.schedule,
                      f.optimizer, f.target, f.recompute, f.overlap);
  });
}
void ConfigAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              ConfigFields{getModel(), getMesh(), getBatch(), getPrecision(),
                           getSchedule(), getOptimizer(), getTarget(),
                           getRecompute(), getOverlap()});
}

//===--- mesh -------------------------------------------------------------===//

static ParseResult parseOrder(AsmParser &parser, Mesh &mesh) {
  std::string text;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseString(&text))
    return failure();
  std::optional<RankOrder> order = RankOrder::of(text);
  if (!order)
    return parser.emitError(at, "expected as the order ")
           << RankOrder::description() << ", found \"" << text << "\"";
  mesh.setOrder(*order);
  return success();
}

static ParseResult parseKvRanks(AsmParser &parser, Mesh &mesh) {
  int64_t ranks = 1;
  SMLoc at = parser.getCurrentLocation();
  if (mesh.kvRanks() != 1)
    return parser.emitError(at, "expected kv once, found it twice");
  if (parser.parseEqual() || parser.parseInteger(ranks))
    return failure();
  mesh.setKvRanks(ranks);
  if (Mesh::isExtent(ranks))
    return success();
  return parser.emitError(at, "expected 1 to ")
         << Mesh::kMaxExtent << " ranks with the same key heads, found "
         << ranks;
}

FailureOr<Mesh> mtc::parseMesh(AsmParser &parser) {
  Mesh mesh;
  for (const AxisInfo &axis : kAxes)
    mesh[axis.id] = 0;
  SMLoc start = parser.getCurrentLocation();
  auto one = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("order")))
      return parseOrder(parser, mesh);
    if (succeeded(parser.parseOptionalKeyword("kv")))
      return parseKvRanks(parser, mesh);
    FailureOr<MtcAxis> axis = parseNamed<MtcAxis>(parser);
    if (failed(axis))
      return failure();
    if (mesh[*axis] != 0)
      return parser.emitError(parser.getCurrentLocation(),
                              "expected each axis once, found ")
             << nameOf(*axis) << " twice";
    if (parser.parseEqual() || parser.parseInteger(mesh[*axis]))
      return failure();
    if (Mesh::isExtent(mesh[*axis]))
      return success();
    return parser.emitError(parser.getCurrentLocation(), "expected 1 to ")
           << Mesh::kMaxExtent << " ranks along " << nameOf(*axis) << ", found "
           << mesh[*axis];
  };
  if (parseAngleList(parser, one))
    return failure();
  for (const AxisInfo &axis : kAxes)
    if (mesh[axis.id] == 0)
      return parser.emitError(start, "expected ranks along every axis (")
             << namesOf(kAxes) << "), found none along " << nameOf(axis.id);
  return mesh;
}

void mtc::printMesh(AsmPrinter &printer, const Mesh &mesh) {
  printer << "<";
  llvm::interleaveComma(kAxes, printer, [&](const AxisInfo &axis) {
    printer << nameOf(axis.id) << " = " << mesh[axis.id];
  });
  if (!mesh.order().isDefault())
    printer << ", order = \"" << mesh.order().text() << "\"";
  if (mesh.kvRanks() != 1)
    printer << ", kv = " << mesh.kvRanks();
  printer << ">";
}
