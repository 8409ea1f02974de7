//===- draft_plan.cpp - a first plan for a model --------------------------===//

#include "compiler/draft/draft_plan.h"
#include "compiler/archive/read_archive.h"
#include "compiler/draft/build_graph.h"
#include "compiler/draft/choose_styles.h"
#include "compiler/draft/draft_text.h"
#include "compiler/frontend/format.h"
#include "compiler/pipeline/compile.h"
#include "compiler/support/parts_clause.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <filesystem>
#include <map>
#include <set>

using namespace meshplan;
using llvm::StringRef;

namespace {

class Drafter {
public:
  Drafter(const DraftOptions &options, Diagnostics &diagnostics)
      : options(options), reports(diagnostics), archiveFile(reportFile(diagnostics)) {}

  std::optional<DraftedPlan> run();

private:
  int32_t reportFile(Diagnostics &diagnostics);
  bool readModel();
  void collectModules(const FeatureGraph &graph);
  bool chooseFromGraph();
  CompileOptions compileOptions(const std::string &text) const;
  const std::vector<size_t> *stylesBehind(const DraftText &text, const meshplan::Diagnostic &report) const;
  std::vector<std::vector<size_t>> suspects(const DraftText &text, const meshplan::Diagnostic &warning) const;
  bool takeBackError(const DraftText &text, const Diagnostics &reported);
  bool takeBackWarning(const DraftText &text, const Diagnostics &reported);
  bool wasWorthIt(bool done, const Diagnostics &reported);
  void takeBackGroups(const std::vector<size_t> &styles, const std::string &reason);
  void reportAsModel(const Diagnostics &errors);
  DraftedPlan describe(std::string text) const;

  const DraftOptions &options;
  Diagnostics &reports;
  int32_t archiveFile;
  ModelOutline model;
  Draft draft;
  std::vector<StyleChoice> choices; ///< of draft.styles, in order

  /// What the draft was before styles were taken back for a warning.
  struct Attempt {
    Draft draft;
    std::vector<StyleChoice> choices;
    size_t warnings;
  };
  std::optional<Attempt> before;
  std::set<std::pair<std::string, size_t>> tried; ///< warnings and the groups that were taken back for them
};

} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The archive as the plan names it: seen from its folder, if both lie in one folder of the root.
static std::string besidePlan(const DraftOptions &options) {
  namespace fs = std::filesystem;
  fs::path folder = fs::absolute(options.planFile).lexically_normal().parent_path();
  fs::path model = fs::absolute(options.modelFile).lexically_normal();
  // A way up to the root and down again says less than the whole path.
  fs::path top = folder.relative_path(), modelTop = model.relative_path();
  bool sharesFolder = !top.empty() && *top.begin() == *modelTop.begin();
  return (sharesFolder ? model.lexically_proximate(folder) : model).generic_string();
}

/// The name of the archive as a word of the language.
static std::string planName(StringRef modelFile) {
  std::string name;
  for (char c : llvm::sys::path::stem(modelFile))
    name += llvm::isAlnum(c) ? c : '_';
  return name.empty() || llvm::isDigit(name.front()) ? "model_" + name : name;
}

/// Extents that symbols had in the example inputs, and those that expressions of them in shapes of inputs had.
static archive::SymbolBindings exampleExtents(const archive::ExportedProgram &program) {
  archive::SymbolBindings extents = program.examples;
  for (const archive::Input &input : program.inputs)
    for (const archive::SymbolicInt &extent : program.value(input.value).dims) {
      if (!extent.isSymbolic())
        continue;
      if (llvm::Expected<int64_t> value = archive::evaluate(extent, program.examples))
        extents[archive::toString(extent)] = *value;
      else
        llvm::consumeError(value.takeError());
    }
  return extents;
}

/// The message without the name of the archive, which is the place of the report.
static std::string withoutFile(StringRef message, StringRef file) {
  if (message.consume_front(("'" + file + "'").str()))
    message.consume_front(":");
  return message.ltrim().str();
}

bool Drafter::readModel() {
  archive::ReadResult archive = archive::readArchive(options.modelFile);
  for (const archive::Diagnostic &error : archive.errors) {
    meshplan::Diagnostic &own = reports.error({archiveFile}, withoutFile(error.message, options.modelFile));
    for (const std::string &note : error.notes)
      own.note({}, note);
    own.help(error.help);
  }
  if (!archive.program)
    return false;
  model = outlineModel(*archive.program).model;
  draft.name = planName(options.modelFile);
  draft.modelFile = besidePlan(options);
  draft.mesh = options.mesh;
  draft.model = &model;
  draft.exampleExtents = exampleExtents(*archive.program);
  return true;
}

/// Modules that a plan can give a style: those that hold parameters, and those that use parameters of others.
void Drafter::collectModules(const FeatureGraph &graph) {
  std::set<std::string> seen;
  auto add = [&](const std::string &path) {
    if (seen.insert(path).second)
      draft.modules.push_back(path);
  };
  for (const OutlineParameter &parameter : model.parameters) {
    for (const OutlineParameterName &name : parameter.names)
      add(model.modules[name.module].path);
    draft.parameters.push_back(parameterPath(model, parameter));
  }
  for (const WeightUse &weight : graph.weights)
    add(weight.module);
}

/// What the draft is, counted as 'check' counts what its entries name.
DraftedPlan Drafter::describe(std::string text) const {
  std::set<llvm::StringRef> holders, divided, others;
  llvm::StringMap<llvm::StringRef> holderOf;
  for (const OutlineParameter &parameter : model.parameters) {
    for (const OutlineParameterName &name : parameter.names)
      holders.insert(model.modules[name.module].path);
    holderOf[parameterPath(model, parameter)] = model.modules[parameter.names.front().module].path;
  }
  for (const StyleChoice &choice : choices) {
    if (choice.style == DraftStyle::whole)
      continue;
    auto holder = holderOf.find(choice.path);
    llvm::StringRef path = holder == holderOf.end() ? llvm::StringRef(choice.path) : holder->second;
    (holders.count(path) != 0 ? divided : others).insert(path);
  }
  return {std::move(text), holders.size(), divided.size(), others.size(), draft.splitsBatch};
}

/// The style as an entry says it.
static std::string styleText(const StyleChoice &choice, const std::string &axes) {
  static constexpr const char *words[] = {"colwise ", "rowwise ", "sequence "};
  if (choice.style == DraftStyle::whole)
    return "replicate, input replicate";
  return words[static_cast<size_t>(choice.style)] + axes +
         (choice.parts.empty() ? "" : " " + partsClause(choice.parts, choice.isOfHeads));
}

/// Imports the model under a plan that divides nothing, and reads styles from its graph.
bool Drafter::chooseFromGraph() {
  draft.splitsBatch = false;
  Compilation compilation(compileOptions(writeDraft(draft).text));
  if (!compilation.run(Phase::import)) {
    reportAsModel(compilation.diagnostics());
    return false;
  }
  draft.splitsBatch = !axesOfRole(options.mesh, AxisRole::data).empty();
  auto function = *compilation.module().getOps<mlir::func::FuncOp>().begin();
  FeatureGraph graph = buildFeatureGraph(function, model);
  collectModules(graph);
  draft.readsTokens = llvm::any_of(graph.weights, [](const WeightUse &weight) { return weight.looksUpInput; });
  std::string axes = axesOfRole(options.mesh, AxisRole::tensor);
  if (axes.empty())
    return true;
  StyleChoices found = chooseStyles(graph, options.sequence);
  choices = std::move(found.styles);
  for (const StyleChoice &choice : choices)
    draft.styles.push_back({choice.path, styleText(choice, axes)});
  for (const UndividedModule &module : found.undivided)
    draft.undivided.push_back({module.path, module.reason});
  return true;
}

//===----------------------------------------------------------------------===//
// What the compiler says
//===----------------------------------------------------------------------===//

CompileOptions Drafter::compileOptions(const std::string &text) const {
  CompileOptions compile;
  compile.planFile = options.planFile;
  compile.planText = text;
  return compile;
}

/// Errors that no style is behind are the model's: the draft is not there to be looked at.
void Drafter::reportAsModel(const Diagnostics &errors) {
  for (const meshplan::Diagnostic &error : errors.all()) {
    if (error.severity != Severity::Error)
      continue;
    meshplan::Diagnostic &own = reports.error({archiveFile}, error.message);
    for (const std::string &help : error.helps)
      own.help(help);
  }
}

/// Takes back the groups of these styles: a pair without its other half would only cost.
void Drafter::takeBackGroups(const std::vector<size_t> &styles, const std::string &reason) {
  std::set<size_t> groups;
  for (size_t index : styles)
    groups.insert(choices[index].group);
  std::vector<StyleChoice> keptChoices;
  std::vector<LabelledModule> keptStyles;
  for (auto [choice, style] : llvm::zip(choices, draft.styles)) {
    if (groups.count(choice.group)) {
      draft.undivided.push_back({choice.path, reason});
      continue;
    }
    keptChoices.push_back(choice);
    keptStyles.push_back(style);
  }
  choices = std::move(keptChoices);
  draft.styles = std::move(keptStyles);
}

/// The styles of the statement behind a report, by its place or that of a note; null if there is none.
const std::vector<size_t> *Drafter::stylesBehind(const DraftText &text, const meshplan::Diagnostic &report) const {
  std::vector<int32_t> lines{report.range.line};
  for (const Note &note : report.notes)
    lines.push_back(note.range.line);
  for (int32_t line : lines)
    for (const auto &[entryLine, styles] : text.entries)
      if (entryLine == line)
        return &styles;
  return nullptr;
}

/// Takes back what is behind the first error; what follows may only be a consequence. An error without a statement is
/// laid to the batch, which divides every activation.
bool Drafter::takeBackError(const DraftText &text, const Diagnostics &reported) {
  const meshplan::Diagnostic &error = *llvm::find_if(
      reported.all(), [](const meshplan::Diagnostic &report) { return report.severity == Severity::Error; });
  if (const std::vector<size_t> *styles = stylesBehind(text, error)) {
    takeBackGroups(*styles, error.message);
    return true;
  }
  if (!draft.splitsBatch)
    return false;
  draft.splitsBatch = false;
  draft.wholeBatchReason = error.message;
  return true;
}

/// What may be behind a warning: the styles of its statement, or, where it names none, those of equal norms, which
/// divide what all modules read.
std::vector<std::vector<size_t>> Drafter::suspects(const DraftText &text, const meshplan::Diagnostic &warning) const {
  if (const std::vector<size_t> *styles = stylesBehind(text, warning))
    return {*styles};
  std::map<size_t, std::vector<size_t>> norms;
  for (auto [index, choice] : llvm::enumerate(choices))
    if (choice.style == DraftStyle::sequence)
      norms[choice.group].push_back(index);
  std::vector<std::vector<size_t>> all;
  for (const auto &[group, styles] : norms)
    all.push_back(styles);
  return all;
}

/// Takes back the styles behind the first warning that was not tried yet.
bool Drafter::takeBackWarning(const DraftText &text, const Diagnostics &reported) {
  for (const meshplan::Diagnostic &warning : reported.all())
    for (const std::vector<size_t> &styles : suspects(text, warning)) {
      if (!tried.insert({warning.message, choices[styles.front()].group}).second)
        continue;
      before = Attempt{draft, choices, reported.all().size()};
      takeBackGroups(styles, warning.message);
      return true;
    }
  return false;
}

/// False if styles were taken back for a warning and it did not go; then they stand again.
bool Drafter::wasWorthIt(bool done, const Diagnostics &reported) {
  bool helped = !before || (done && reported.all().size() < before->warnings);
  if (!helped) {
    draft = std::move(before->draft);
    choices = std::move(before->choices);
  }
  before.reset();
  return helped;
}

//===----------------------------------------------------------------------===//

int32_t Drafter::reportFile(Diagnostics &diagnostics) {
  const SourceBuffer *file = diagnostics.sources().find(options.modelFile);
  return file ? file->file() : -1;
}

std::optional<DraftedPlan> Drafter::run() {
  if (!readModel() || !chooseFromGraph())
    return std::nullopt;
  DraftText text;
  while (true) {
    text = writeDraft(draft);
    Compilation compilation(compileOptions(text.text));
    bool done = compilation.run(Phase::schedule);
    if (!wasWorthIt(done, compilation.diagnostics()))
      continue;
    if (done ? takeBackWarning(text, compilation.diagnostics()) : takeBackError(text, compilation.diagnostics()))
      continue;
    if (done)
      break;
    reportAsModel(compilation.diagnostics());
    return std::nullopt;
  }
  Sources sources;
  std::optional<std::string> formatted = formatPlan(sources.add(options.planFile, text.text), reports);
  if (!formatted)
    return std::nullopt;
  auto isSequence = [](const StyleChoice &choice) { return choice.style == DraftStyle::sequence; };
  if (options.sequence && llvm::none_of(choices, isSequence))
    reports
        .warning({reportFile(reports)}, "'--sequence' changes nothing: no norm with a weight could divide the sequence")
        .help("give norms without weights the style by hand: 'PATH: sequence AXIS'");
  return describe(std::move(*formatted));
}

std::optional<DraftedPlan> meshplan::draftPlan(const DraftOptions &options, Diagnostics &diagnostics) {
  return Drafter(options, diagnostics).run();
}
