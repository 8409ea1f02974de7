//===- draft_plan.cpp - a first plan for a model --------------------------===//

#include "compiler/draft/draft_plan.h"
#include "compiler/archive/read_archive.h"
#include "compiler/draft/build_graph.h"
#include "compiler/draft/choose_styles.h"
#include "compiler/draft/draft_text.h"
#include "compiler/frontend/format.h"
#include "compiler/pipeline/compile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <filesystem>
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
  bool chooseFromGraph();
  CompileOptions compileOptions(const std::string &text) const;
  bool takeBack(const DraftText &text, const Diagnostics &errors);
  bool takeBack(const DraftText &text, const Diagnostic &error);
  void takeBackGroups(const std::vector<size_t> &styles, const std::string &reason);
  void reportAsModel(const Diagnostics &errors);

  const DraftOptions &options;
  Diagnostics &reports;
  int32_t archiveFile;
  ModelOutline model;
  Draft draft;
  std::vector<StyleChoice> choices; ///< of draft.styles, in order
};

} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The archive seen from the folder of the plan, if a way there can be written.
static std::string besidePlan(const DraftOptions &options) {
  namespace fs = std::filesystem;
  fs::path folder = fs::absolute(options.planFile).lexically_normal().parent_path();
  return fs::absolute(options.modelFile).lexically_normal().lexically_proximate(folder).generic_string();
}

/// The name of the archive as a word of the language.
static std::string planName(StringRef modelFile) {
  std::string name;
  for (char c : llvm::sys::path::stem(modelFile))
    name += llvm::isAlnum(c) ? c : '_';
  return name.empty() || llvm::isDigit(name.front()) ? "model_" + name : name;
}

bool Drafter::readModel() {
  archive::ReadResult archive = archive::readArchive(options.modelFile);
  for (const archive::Diagnostic &error : archive.errors) {
    Diagnostic &own = reports.error({archiveFile}, error.message);
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
  draft.exampleExtents = archive.program->examples;
  std::set<std::string> seen;
  for (const OutlineParameter &parameter : model.parameters)
    for (const OutlineParameterName &name : parameter.names)
      if (const std::string &path = model.modules[name.module].path; seen.insert(path).second)
        draft.modules.push_back(path);
  return true;
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
  std::string axes = axesOfRole(options.mesh, AxisRole::tensor);
  if (axes.empty())
    return true;
  auto function = *compilation.module().getOps<mlir::func::FuncOp>().begin();
  StyleChoices found = chooseStyles(buildFeatureGraph(function, model), options.sequence);
  choices = std::move(found.styles);
  static constexpr const char *words[] = {"colwise ", "rowwise ", "sequence "};
  for (const StyleChoice &choice : choices)
    draft.styles.push_back({choice.module, words[static_cast<size_t>(choice.style)] + axes});
  for (const UndividedModule &module : found.undivided)
    draft.undivided.push_back({module.module, module.reason});
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
  for (const Diagnostic &error : errors.all()) {
    if (error.severity != Severity::Error)
      continue;
    Diagnostic &own = reports.error({archiveFile}, error.message);
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
      draft.undivided.push_back({choice.module, reason});
      continue;
    }
    keptChoices.push_back(choice);
    keptStyles.push_back(style);
  }
  choices = std::move(keptChoices);
  draft.styles = std::move(keptStyles);
}

/// Finds the statement behind an error, by its place or that of a note, and takes it back. An error without one is laid
/// to the batch, which divides every activation.
bool Drafter::takeBack(const DraftText &text, const Diagnostic &error) {
  std::vector<int32_t> lines{error.range.line};
  for (const Note &note : error.notes)
    lines.push_back(note.range.line);
  for (int32_t line : lines)
    for (const auto &[entryLine, styles] : text.entries)
      if (entryLine == line)
        return takeBackGroups(styles, error.message), true;
  if (error.severity == Severity::Warning || !draft.splitsBatch)
    return false;
  draft.splitsBatch = false;
  draft.wholeBatchReason = error.message;
  return true;
}

bool Drafter::takeBack(const DraftText &text, const Diagnostics &errors) {
  // One at a time: what follows may only be a consequence, and indices into the styles change.
  for (const Diagnostic &error : errors.all())
    if (error.severity == Severity::Error)
      return takeBack(text, error);
  return llvm::any_of(errors.all(), [&](const Diagnostic &warning) { return takeBack(text, warning); });
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
    if (takeBack(text, compilation.diagnostics()))
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
  return DraftedPlan{std::move(*formatted), draft.modules.size(), draft.styles.size(), draft.splitsBatch};
}

std::optional<DraftedPlan> meshplan::draftPlan(const DraftOptions &options, Diagnostics &diagnostics) {
  return Drafter(options, diagnostics).run();
}
