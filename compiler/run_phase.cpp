//===- run_phase.cpp - runs one pass and keeps what it says ---------------===//

#include "compiler/run_phase.h"

#include "compiler/join_plans.h"
#include "compiler/locations.h"
#include "compiler/register.h"
#include "passes/PhasePass.h"
#include "passes/pipelines.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

const char *severity(mlir::DiagnosticSeverity value) {
  switch (value) {
  case mlir::DiagnosticSeverity::Error:
    return "error: ";
  case mlir::DiagnosticSeverity::Warning:
    return "warning: ";
  case mlir::DiagnosticSeverity::Note:
    return "note: ";
  case mlir::DiagnosticSeverity::Remark:
    return "remark: ";
  }
  return "";
}

void append(const mlir::Diagnostic &diagnostic, const char *indent,
            llvm::raw_ostream &out) {
  out << indent << describe(diagnostic.getLocation())
      << severity(diagnostic.getSeverity()) << diagnostic.str() << "\n";
}

/// Verifiers of plans say what is wrong with their input, others with mtc.
Status rejected(Phase phase) {
  StatusCode code = phase == Phase::verifyPlan ? StatusCode::infeasible
                                               : StatusCode::internal;
  return {code, fmt::format("phase {} rejected the IR", toString(phase))};
}

} // namespace

DiagnosticLog::DiagnosticLog(mlir::MLIRContext &context)
    : handler_(&context, [this](mlir::Diagnostic &diagnostic) {
        std::scoped_lock lock(mutex_);
        hasError_ |=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        llvm::raw_string_ostream out(text_);
        append(diagnostic, "", out);
        for (const mlir::Diagnostic &note : diagnostic.getNotes())
          append(note, "  ", out);
        return mlir::success();
      }) {}

bool DiagnosticLog::hasError() const {
  std::scoped_lock lock(mutex_);
  return hasError_;
}

std::string DiagnosticLog::take() {
  std::scoped_lock lock(mutex_);
  hasError_ = false;
  return std::exchange(text_, {});
}

std::unique_ptr<mlir::MLIRContext>
makeContext(llvm::ThreadPoolInterface *threads) {
  registerMtcPasses();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  if (threads)
    context->setThreadPool(*threads);
  // The location says where; printing the op could print a whole module.
  context->printOpOnDiagnostic(false);
  return context;
}

/// The phase may be an earlier one: behind that nobody looked.
static Status checkResult(Phase phase, mlir::ModuleOp module) {
  if (succeeded(mlir::verify(module)))
    return Status::okay();
  return {StatusCode::internal,
          fmt::format("the phases up to {} gave invalid IR; --verify-each "
                      "says which did",
                      toString(phase))};
}

Status runPass(Phase phase, mlir::ModuleOp module, mlir::TimingScope &timing,
               IRCheck check, const std::string &options) {
  std::string name = toString(phase), problem;
  // A scope for each: MLIR tells passes apart by address, and the passes of the
  // last manager may have had the same.
  mlir::TimingScope scope = timing.nest(name);
  mlir::PassManager manager(module.getContext());
  manager.enableTiming(scope);
  manager.enableVerifier(check == IRCheck::eachPass);
  if (failed(passes::addPhase(manager, phase, options, problem)))
    return {StatusCode::internal,
            fmt::format("phase {} cannot be set up: {}", name, problem)};
  if (failed(manager.run(module)))
    return rejected(phase);
  return check == IRCheck::result ? checkResult(phase, module) : Status::okay();
}

Status withDiagnostics(Status status, DiagnosticLog &log) {
  if (status.ok() && log.hasError())
    status = {StatusCode::internal, "errors were reported"};
  std::string said = log.take();
  if (!status.ok())
    return {status.code(),
            status.message() + (said.empty() ? "" : "\n") + said};
  std::fputs(said.c_str(), stderr);
  return status;
}

Status runPhase(Phase phase, mlir::ModuleOp module, DiagnosticLog &log,
                mlir::TimingScope &timing, IRCheck check) {
  Status status = Status::okay();
  for (mlir::ModuleOp plan : plansOf(module))
    if (status.ok())
      status = runPass(phase, plan, timing, check);
  if (status.ok() && log.hasError())
    status = rejected(phase);
  if (status.ok())
    passes::leavePhase(module, phase);
  return withDiagnostics(std::move(status), log);
}

/// Ops are verified by whoever asked: they have their locations only then.
static mlir::OwningOpRef<mlir::ModuleOp>
parseLocated(llvm::SourceMgr &sources, mlir::MLIRContext &context) {
  mlir::Block block;
  mlir::AsmParserState state;
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  if (failed(mlir::parseAsmSourceFile(sources, &block, config, &state)))
    return {};
  auto module =
      mlir::detail::constructContainerOpForParserIfNecessary<mlir::ModuleOp>(
          &block, &context, mlir::UnknownLoc::get(&context));
  if (module)
    locate(*module, state, sources);
  return module;
}

/// The line of the first dense array of index; 0 if there is none. MLIR's
/// parser takes index for a type with a width, and crashes.
static int64_t lineOfIndexArray(llvm::StringRef text) {
  llvm::StringRef left = text;
  for (size_t at; (at = left.find("array")) != llvm::StringRef::npos;) {
    left = left.drop_front(at + 5);
    llvm::StringRef next = left.ltrim();
    if (next.consume_front("<") && next.ltrim().starts_with("index"))
      return text.drop_back(left.size()).count('\n') + 1;
  }
  return 0;
}

Status parseModule(const std::string &path, mlir::MLIRContext &context,
                   DiagnosticLog &log,
                   mlir::OwningOpRef<mlir::ModuleOp> &module,
                   std::optional<Phase> &phase) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return {
        StatusCode::inputRejected,
        fmt::format("cannot read '{}': {}", path, buffer.getError().message())};
  if (int64_t line = lineOfIndexArray((*buffer)->getBuffer()))
    return {StatusCode::infeasible,
            fmt::format("'{}': expected dense arrays of integers or floats, "
                        "found one of index in line {}",
                        path == "-" ? "<stdin>" : path, line)};
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  module = parseLocated(sources, context);
  if (!module || failed(mlir::verify(*module)))
    return {StatusCode::infeasible,
            fmt::format("'{}': expected IR that mtc wrote, found text that "
                        "does not parse\n{}",
                        path == "-" ? "<stdin>" : path, log.take())};
  auto reached = passes::phaseOf(*module);
  if (failed(reached))
    return {StatusCode::infeasible, log.take()};
  phase = *reached;
  return Status::okay();
}

} // namespace mtc::compiler
