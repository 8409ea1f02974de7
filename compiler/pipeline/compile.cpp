//===- compile.cpp - from a plan file to a schedule -----------------------===//
//
// import() reads plan and archive as plain data, binds one to the other, and
// builds the IR; run() then runs the passes of each phase. Diagnostics of MLIR
// are collected with those of the frontend, so that the user sees one list with
// locations in the plan.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/compile.h"
#include "compiler/archive/bind_symbols.h"
#include "compiler/archive/read_archive.h"
#include "compiler/cluster/read_cluster.h"
#include "compiler/pipeline/build_pipeline.h"
#include "compiler/target/artifact/artifact.h"
#include "compiler/timing/overlap_contracts.h"
#include "compiler/transforms/import/build_program.h"
#include "compiler/transforms/import/check_training_mode.h"
#include "compiler/transforms/import/stack_modules.h"
#include "dialect/plan/plan.h"
#include "dialect/sched/sched.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <map>
#include <utility>

using namespace meshplan;

Compilation::Compilation(CompileOptions given)
    : options(std::move(given)), reports(sources), context(mlir::MLIRContext::Threading::DISABLED) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  // Users read plans, not IR.
  context.printOpOnDiagnostic(false);
}

/// Resolves `path` relative to the folder of the plan.
static std::string besidePlan(llvm::StringRef planFile, llvm::StringRef path) {
  if (llvm::sys::path::is_absolute(path))
    return path.str();
  llvm::SmallString<128> joined(llvm::sys::path::parent_path(planFile));
  llvm::sys::path::append(joined, path);
  return joined.str().str();
}

/// Calls `visit` with the extents of everything that the plan may name: inputs and outputs.
template <typename Visitor> static void visitExtents(const archive::ExportedProgram &program, Visitor visit) {
  for (const archive::Input &input : program.inputs)
    llvm::for_each(program.value(input.value).dims, visit);
  for (const archive::Output &output : program.outputs)
    llvm::for_each(program.value(output.value).dims, visit);
}

/// The extents that the plan gives to symbols, and to dims that are expressions of symbols (`2*b`); the latter must
/// agree with the symbols.
static archive::SymbolBindings bindExtents(const archive::ExportedProgram &program, const BoundPlan &plan,
                                           Diagnostics &diagnostics) {
  archive::SymbolBindings bindings;
  for (const BoundSymbol &symbol : plan.symbols)
    bindings[symbol.symbol] = symbol.extent;
  for (const BoundSymbol &symbol : plan.symbols) {
    bool isKnown = false;
    visitExtents(program, [&](const archive::SymbolicInt &extent) {
      if (isKnown || archive::toString(extent) != symbol.symbol)
        return;
      isKnown = true;
      if (llvm::Error error = archive::bindExtent(extent, symbol.extent, bindings))
        diagnostics.error(symbol.range, llvm::toString(std::move(error)));
    });
  }
  return bindings;
}

bool Compilation::run(Phase last) {
  if (!import())
    return false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { report(diagnostic); });
  inHalves = bound->halves.has_value();
  if (last != Phase::schedule)
    return runPhases(last);
  return (inHalves ? chooseHalves() : runPhases(last)) && keepsContracts();
}

bool Compilation::runPhases(Phase last) {
  for (Phase phase = Phase::import;; phase = nextPhase(phase)) {
    if (!runPasses(phase))
      return false;
    if (phase == last)
      return true;
  }
}

/// The estimated time of a step, in nanoseconds.
static int64_t stepTime(mlir::ModuleOp module, const std::vector<ProgramTimes> &times) {
  std::optional<StepTimes> step = stepTimes(times, sched::mainProgramOf(module).getSymName());
  return step ? step->total : 0;
}

bool Compilation::chooseHalves() {
  mlir::OwningOpRef<mlir::ModuleOp> halves = ir->clone();
  for (auto statement : llvm::make_early_inc_range(ir->getOps<plan::MicrobatchesOp>())) {
    if (statement.getCount() == 2)
      statement.erase();
    else
      statement.setCount(statement.getCount() / 2);
  }
  // First the form without halves, so that what is wrong with the plan itself is reported as of it.
  inHalves = false;
  if (!runPhases(Phase::schedule))
    return false;
  int64_t whole = stepTime(*ir, programTimes);
  std::vector<ProgramTimes> wholeTimes = std::exchange(programTimes, {});
  std::swap(ir, halves);
  inHalves = true;
  // Warnings have been reported.
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      report(diagnostic).note(*bound->halves, "halves of a batch are microbatches; without 'halves' the plan compiles");
  });
  if (!runPhases(Phase::schedule))
    return false;
  if (stepTime(*ir, programTimes) < whole)
    return true;
  inHalves = false;
  std::swap(ir, halves);
  programTimes = std::move(wholeTimes);
  return true;
}

bool Compilation::import() {
  if (!options.planText) {
    auto text = llvm::MemoryBuffer::getFile(options.planFile, /*IsText=*/true);
    if (!text) {
      const SourceBuffer &file = sources.add(options.planFile);
      reports.error({file.file()}, "cannot be read: " + text.getError().message());
      return false;
    }
    options.planText = (*text)->getBuffer().str();
  }
  const SourceBuffer &source = sources.add(options.planFile, *options.planText);
  std::optional<Syntax> syntax = parsePlan(source, reports);
  if (!syntax || reports.hasErrors())
    return false;
  if (syntax->models.empty()) {
    reports.error({source.file()}, "the plan names no model").help("add 'model \"FILE.pt2\"', written by torch.export");
    return false;
  }
  const ModelStatement &model = syntax->models.front();
  std::string modelFile = besidePlan(options.planFile, model.file);
  archive::ReadResult archive = archive::readArchive(modelFile);
  for (const archive::Diagnostic &error : archive.errors)
    reportArchive(error, model.fileRange);
  if (!archive.program)
    return false;
  outline = outlineModel(*archive.program);
  if (!stackExperts(*syntax, *archive.program))
    return false;
  bound = bindPlan(*syntax, outline.model, options.definitions, reports);
  if (!bound || !readCluster())
    return false;
  // `check` compiles a second time without recompute, to compare the memory of both. The contracts of the plan are
  // about the times with it.
  if (!options.recompute) {
    bound->recomputes.clear();
    bound->overlap.clear();
    bound->split.reset();
    bound->halves.reset();
  }
  archive::SymbolBindings bindings = bindExtents(*archive.program, *bound, reports);
  if (reports.hasErrors())
    return false;
  for (const archive::Diagnostic &error : archive::bindSymbols(*archive.program, bindings))
    reportExtent(error, *syntax);
  if (reports.hasErrors())
    return false;
  if (options.gradients && !(bound->loss && bound->optimizer))
    reports.error({}, "--gradients: the plan does not train, so there are no gradients to return")
        .help(std::string("add '") + (bound->loss ? "" : "loss NAME") +
              (bound->loss || bound->optimizer ? "" : "' and '") +
              (bound->optimizer ? "" : "optimizer sgd { lr 0.1 }") + "' to the plan, or leave out --gradients");
  checkTrainingMode(*archive.program, *bound, options.strict, reports);
  checkCustomFunctions(*archive.program, *bound, reports);
  if (reports.hasErrors())
    return false;
  archiveDigest = archive.program->digest;
  // Only a training that draws its weights starts from the archive's buffers; otherwise their values are not read.
  if (bound->init)
    archive::readBufferValues(modelFile, *archive.program);
  modelDigest = archive.program->digest;
  ir = buildProgram(*archive.program, outline, *bound, reports, context);
  return static_cast<bool>(ir);
}

bool Compilation::stackExperts(const Syntax &syntax, archive::ExportedProgram &program) {
  std::vector<ListToStack> lists = listsToStack(syntax, outline.model);
  // The lists of equal layers have the same fault, so an entry is reported once.
  struct Fault {
    const ListToStack *list;
    std::string text;
    size_t more = 0;
  };
  std::vector<Fault> faults;
  for (const ListToStack &list : lists)
    if (std::string text = stackModules(program, list.path); !text.empty()) {
      auto known = llvm::find_if(faults, [&](const Fault &fault) { return fault.list->range == list.range; });
      if (known == faults.end())
        faults.push_back({&list, std::move(text)});
      else
        ++known->more;
    }
  for (const auto &[list, text, more] : faults) {
    Diagnostic &error =
        reports.error(list->range, "the modules of '" + list->path + "' cannot be divided as experts: " + text);
    if (more > 0)
      error.note({}, "nor can those of " + std::to_string(more) + (more > 1 ? " more lists" : " more list"));
    error.help(
        "experts of a list are several, numbered from 0, and have parameters of the same names, shapes and types, "
        "of which all are used and none is shared; give other lists styles of the modules in them, such as "
        "'colwise' and 'rowwise'");
  }
  if (!lists.empty())
    outline = outlineModel(program);
  return !reports.hasErrors();
}

bool Compilation::readCluster() {
  std::optional<Cluster> cluster = openCluster(options.cluster, options.device, sources, reports);
  if (!cluster || !checkSize(*cluster, bound->environment.mesh.worldSize(), bound->environment.mesh.range, reports))
    return false;
  machines = std::make_shared<const Cluster>(std::move(*cluster));
  return true;
}

meshplan::Diagnostic &Compilation::reportArchive(const archive::Diagnostic &error, SourceRange location) {
  meshplan::Diagnostic &diagnostic = reports.error(location, error.message);
  for (const std::string &note : error.notes)
    diagnostic.note({}, note);
  if (!error.help.empty())
    diagnostic.help(error.help);
  return diagnostic;
}

/// The definitions of the command line that an expression depends on.
static void collectDefinitions(const Expression &expression, const Syntax &syntax,
                               llvm::ArrayRef<Definition> definitions, std::vector<const Definition *> &found) {
  for (const Expression &operand : expression.operands)
    collectDefinitions(operand, syntax, definitions, found);
  if (expression.kind != Expression::Kind::Name)
    return;
  for (const Definition &definition : definitions)
    if (definition.name == expression.name) {
      if (!llvm::is_contained(found, &definition))
        found.push_back(&definition);
      return;
    }
  for (const LetStatement &let : syntax.lets)
    if (let.name.text == expression.name)
      collectDefinitions(let.value, syntax, definitions, found);
}

void Compilation::reportExtent(const archive::Diagnostic &error, const Syntax &syntax) {
  auto symbol = llvm::find_if(bound->symbols, [&](const BoundSymbol &own) { return own.symbol == error.symbol; });
  SourceRange location = symbol == bound->symbols.end() ? bound->modelRange : symbol->range;
  meshplan::Diagnostic &diagnostic = reportArchive(error, location);
  std::vector<const Definition *> found;
  for (const ValueStatement &statement : syntax.values)
    for (const DimSyntax &dim : statement.dims)
      if (dim.extent && dim.range == location)
        collectDefinitions(*dim.extent, syntax, options.definitions, found);
  for (const Definition *definition : found)
    diagnostic.note({}, "'" + definition->name + "' is given by -D " + definition->name + "=" + definition->value);
}

// Verifying after each pass is a seventh of the time that a large model takes, and finds defects of passes, not of
// plans. Builds with assertions do it, and meshplan-opt; all others verify what each phase leaves.
#ifdef NDEBUG
static constexpr bool verifiesEachPass = false;
#else
static constexpr bool verifiesEachPass = true;
#endif

bool Compilation::runPasses(Phase phase) {
  mlir::PassManager manager(&context);
  manager.enableVerifier(verifiesEachPass);
  buildPhase(manager, phase,
             {options.strict, options.gradients, options.reference, options.device, machines, options.solver,
              bound && bound->split ? bound->split->most : 1, inHalves, &programTimes});
  return mlir::succeeded(manager.run(*ir)) && (verifiesEachPass || mlir::succeeded(mlir::verify(*ir))) &&
         !reports.hasErrors();
}

bool Compilation::keepsContracts() {
  if (bound->overlap.empty() && !bound->split && !bound->halves)
    return true;
  sched::ProgramOp main = sched::mainProgramOf(*ir);
  if (std::optional<StepTimes> times = main ? stepTimes(programTimes, main.getSymName()) : std::nullopt)
    checkOverlap(*bound, *times, *machines, reports);
  return !reports.hasErrors();
}

SourceRange Compilation::locate(mlir::Location location) const {
  auto range = mlir::dyn_cast<mlir::FileLineColRange>(location);
  if (!range)
    range = sched::getPlanLocation(location);
  if (!range || range.getFilename().getValue() != options.planFile)
    return {};
  return {0, static_cast<int32_t>(range.getStartLine()), static_cast<int32_t>(range.getStartColumn()),
          static_cast<int32_t>(range.getEndColumn())};
}

meshplan::Diagnostic &Compilation::report(mlir::Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
  SourceRange location = locate(diagnostic.getLocation());
  // A diagnostic without a statement is about the model.
  if (!location.hasFile())
    location = bound ? bound->modelRange : SourceRange{0};
  meshplan::Diagnostic &own =
      isError ? reports.error(location, diagnostic.str()) : reports.warning(location, diagnostic.str());
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string text = note.str();
    llvm::StringRef message = text;
    if (message.consume_front("help: "))
      own.help(message.str());
    else
      own.note(locate(note.getLocation()), text);
  }
  return own;
}

bool Compilation::reads(llvm::StringRef path) const {
  return llvm::sys::fs::equivalent(path, options.planFile) ||
         llvm::sys::fs::equivalent(path, besidePlan(options.planFile, bound->modelFile)) ||
         (!machines->file.empty() && llvm::sys::fs::equivalent(path, machines->file));
}

std::string Compilation::fingerprint(llvm::StringRef version) const {
  llvm::SHA256 hash;
  // Each text is preceded by its length, so that different lists of texts never hash the same bytes.
  auto add = [&](llvm::StringRef text) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  };
  add(version);
  add(options.device);
  add(options.gradients ? "gradients" : "");
  add(options.reference ? "reference" : "");
  // Solver and cluster decide the order of the steps. The text of the cluster counts and not its file, because a file
  // may be measured again.
  add(options.solver);
  add(machines->text);
  add(sources.buffer(0).text());
  // The values of names, not the options that set them, so that the order of the options does not matter.
  std::map<std::string, int64_t> values;
  for (const auto &entry : bound->environment.values)
    values[entry.getKey().str()] = entry.getValue();
  for (const auto &[name, value] : values) {
    add(name);
    add(std::to_string(value));
  }
  add(modelDigest);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

mlir::FailureOr<std::vector<uint8_t>> Compilation::artifact(llvm::StringRef version) {
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { report(diagnostic); });
  return serialize(*ir, {version.str(), fingerprint(version), bound->name, options.device});
}
