//===- draft_plan.cpp - a first plan for a model --------------------------===//
//
// The draft is built from what is known before anything is split, and then
// corrected by compiling it:
//
// 1. readModel: the archive, a foreign plan, the mesh, the loss.
// 2. chooseFromGraph: imports the model under a plan without splits, reads the
//    feature graph of the imported program and chooses styles, or takes those of
//    the foreign plan.
// 3. addTraining: optimizer, data block and other statements.
// 4. run: compiles the text, removes what the compiler refuses
//    (DraftCorrections), and repeats until it compiles.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/draft_plan.h"
#include "compiler/adopt/automodel.h"
#include "compiler/adopt/huggingface.h"
#include "compiler/adopt/megatron/megatron.h"
#include "compiler/archive/read_archive.h"
#include "compiler/draft/adopted_styles.h"
#include "compiler/draft/build_graph.h"
#include "compiler/draft/choose_styles.h"
#include "compiler/draft/draft_corrections.h"
#include "compiler/draft/draft_text.h"
#include "compiler/draft/drafted_mesh.h"
#include "compiler/draft/input_names.h"
#include "compiler/draft/training/choose_loss.h"
#include "compiler/frontend/format.h"
#include "compiler/pipeline/compile.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/parts_clause.h"
#include "compiler/transforms/differentiate/unreached.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <filesystem>
#include <limits>
#include <map>
#include <set>

using namespace meshplan;
using llvm::StringRef;

namespace {

class Drafter {
public:
  Drafter(const DraftOptions &options, Diagnostics &diagnostics)
      : options(options), reports(diagnostics), archiveFile(reportFile(diagnostics)), sequence(options.sequence) {}

  std::optional<DraftedPlan> run();

private:
  int32_t reportFile(Diagnostics &diagnostics);
  bool readModel();
  bool adoptPlan();
  std::optional<AdoptedPlan> readForeignPlan();
  bool findLoss(const archive::ExportedProgram &program);
  bool fitsOneStep(const AdoptedNumber &microBatch, int64_t shards);
  std::optional<int64_t> setBatch();
  bool addTraining();
  bool checkTrained(const TrainingFacts &facts);
  std::vector<std::string> findUnused();
  void collectModules(const FeatureGraph &graph);
  bool chooseFromGraph();
  StyleRequest request() const;
  std::unique_ptr<Compilation> importModel();
  CompileOptions compileOptions(const std::string &text) const;
  void reportAsModel(const Diagnostics &errors);
  DraftedPlan describe(std::string text) const;

  const DraftOptions &options;
  Diagnostics &reports;
  int32_t archiveFile;
  bool sequence; ///< norms split the sequence
  AdoptedPlan adopted;
  ModelOutline model;
  Draft draft;
  std::vector<StyleChoice> choices;            ///< of draft.styles, in order
  std::map<std::string, std::string> inputsOf; ///< clauses for the inputs of modules that read them whole
};

} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The path of the archive as the plan names it: relative to the plan's folder, if both are below one top-level folder.
static std::string besidePlan(const DraftOptions &options) {
  namespace fs = std::filesystem;
  fs::path folder = fs::absolute(options.planFile).lexically_normal().parent_path();
  fs::path model = fs::absolute(options.modelFile).lexically_normal();
  // A relative path through the root would say less than the absolute one.
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

/// The extents of symbols in the example inputs, and the values of expressions of symbols in shapes of inputs.
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

/// The message without the name of the archive, which the report's location already has.
static std::string withoutFile(StringRef message, StringRef file) {
  if (message.consume_front(("'" + file + "'").str()))
    message.consume_front(":");
  return message.ltrim().str();
}

void meshplan::reportArchive(llvm::ArrayRef<archive::Diagnostic> errors, StringRef path, int32_t file,
                             Diagnostics &diagnostics) {
  for (const archive::Diagnostic &error : errors) {
    meshplan::Diagnostic &own = diagnostics.error({file}, withoutFile(error.message, path));
    for (const std::string &note : error.notes)
      own.note({}, note);
    own.help(error.help);
  }
}

bool Drafter::readModel() {
  archive::ReadResult archive = archive::readArchive(options.modelFile);
  reportArchive(archive.errors, options.modelFile, archiveFile, reports);
  if (!archive.program)
    return false;
  model = outlineModel(*archive.program).model;
  draft.name = planName(options.modelFile);
  draft.modelFile = besidePlan(options);
  draft.mesh = options.mesh;
  draft.model = &model;
  draft.exampleExtents = exampleExtents(*archive.program);
  return adoptPlan() && findLoss(*archive.program);
}

//===----------------------------------------------------------------------===//
// Foreign plans
//===----------------------------------------------------------------------===//

std::optional<AdoptedPlan> Drafter::readForeignPlan() {
  // The mesh follows from the plan that is read here; `tp` is the name that draftMesh gives the axis of weights.
  std::string axes = draft.mesh.empty() ? "tp" : axesOfRole(draft.mesh, AxisRole::tensor);
  switch (options.from.kind) {
  case ForeignPlan::Kind::none:
    return AdoptedPlan();
  case ForeignPlan::Kind::huggingface:
    return adoptHuggingFace(*options.from.source, model, axes, reports);
  case ForeignPlan::Kind::automodel:
    return adoptAutomodel(*options.from.source, model, axes, reports);
  case ForeignPlan::Kind::megatron:
    return adoptMegatron(*options.from.source, reports);
  }
  return std::nullopt;
}

bool Drafter::adoptPlan() {
  std::optional<AdoptedPlan> plan = readForeignPlan();
  if (!plan)
    return false;
  adopted = std::move(*plan);
  draft.notes = adopted.notes;
  sequence |= adopted.sequence;
  if (options.from.kind == ForeignPlan::Kind::none)
    return true;
  std::optional<std::vector<DraftAxis>> mesh =
      draftMesh(adopted.mesh, options.mesh, options.ranks, options.from.source->file(), reports);
  if (mesh)
    draft.mesh = *mesh;
  return mesh.has_value();
}

bool Drafter::findLoss(const archive::ExportedProgram &program) {
  bool trains = options.train || adopted.training.optimizer;
  // A foreign plan is useful without its training, but training that the user asks for is not dropped.
  LossRequest request = options.train || options.loss ? LossRequest::required
                        : trains                      ? LossRequest::optional
                                                      : LossRequest::ifNamed;
  std::optional<std::string> loss = chooseLoss(program, options.loss.value_or(""), request, archiveFile, reports);
  if (!loss)
    return false;
  draft.loss = *loss;
  if (draft.loss.empty()) {
    adopted.training.optimizer.reset();
    return true;
  }
  draft.lossUnit = adopted.training.lossUnit;
  if (options.train && !adopted.training.optimizer) {
    AdoptedTraining usual = usualTraining(draft.mesh, model);
    if (options.from.kind == ForeignPlan::Kind::none || options.from.kind == ForeignPlan::Kind::huggingface)
      adopted.training = std::move(usual);
    else
      adopted.training.optimizer = std::move(usual.optimizer);
  }
  return true;
}

/// False, after an error, if a step of one microbatch on each rank has more samples than a size can count.
bool Drafter::fitsOneStep(const AdoptedNumber &microBatch, int64_t shards) {
  if (microBatch.value <= std::numeric_limits<int64_t>::max() / shards)
    return true;
  reports.error(microBatch.range, std::to_string(microBatch.value) + " samples on each of " + std::to_string(shards) +
                                      " ranks are more than a size can count");
  return false;
}

/// Gives a symbolic batch the size that a foreign plan states. Returns the samples of a step, where they are known.
std::optional<int64_t> Drafter::setBatch() {
  auto input = llvm::find_if(model.inputs, [](const OutlineValue &value) { return !value.dims.empty(); });
  if (input == model.inputs.end())
    return std::nullopt;
  const OutlineDim &batch = input->dims[draft.inputNames.empty() ? 0 : 1];
  const AdoptedTraining &training = adopted.training;
  int64_t shards = shardsOfRole(draft.mesh, AxisRole::data);
  // A symbolic batch can take the size that the foreign plan states; an exported size is fixed.
  if (batch.symbol.empty()) {
    if (training.globalBatch && training.globalBatch->value != batch.extent)
      reports
          .warning(training.globalBatch->range, "this states a batch of " +
                                                    std::to_string(training.globalBatch->value) +
                                                    ", and the archive has a batch of " + std::to_string(batch.extent))
          .help("the batch of the archive applies: export the model with another batch, or with a symbolic one");
    return batch.extent;
  }
  if (training.globalBatch)
    draft.exampleExtents[batch.symbol] = training.globalBatch->value;
  else if (training.microBatch && !fitsOneStep(*training.microBatch, shards))
    return std::nullopt;
  else if (training.microBatch)
    draft.exampleExtents[batch.symbol] = training.microBatch->value * shards;
  auto known = draft.exampleExtents.find(batch.symbol);
  if (known == draft.exampleExtents.end())
    return std::nullopt;
  int64_t samples = known->second, divided = llvm::alignTo(samples, shards);
  if (draft.splitsBatch && training.globalBatch && divided != samples)
    reports
        .warning(training.globalBatch->range,
                 "a batch of " + std::to_string(samples) + " is not a multiple of the " + std::to_string(shards) +
                     " ranks that it is split over: the plan has " + std::to_string(divided))
        .help("use a multiple, or split the batch over fewer ranks");
  return draft.splitsBatch ? divided : samples;
}

/// Parameters that the loss does not reach. Found by compiling up to `place` with everything replicated.
std::vector<std::string> Drafter::findUnused() {
  // Styles could make the compilation fail, and which parameters the loss reaches does not depend on them.
  Draft whole = draft;
  whole.styles.clear();
  whole.training = {{"optimizer sgd", "", {{"lr 1", ""}}}};
  Compilation compilation(compileOptions(writeDraft(whole).text));
  return compilation.run(Phase::place) ? unreachedParameters(compilation.module()) : std::vector<std::string>();
}

/// Drops the optimizer if there is nothing to train. False after an error: training that the user asks for is not
/// dropped.
bool Drafter::checkTrained(const TrainingFacts &facts) {
  std::string why = adopted.training.optimizer ? whyUntrained(adopted.training, facts) : "";
  if (why.empty())
    return true;
  constexpr const char *way = "export the model with parameters that require a gradient";
  if (options.train) {
    reports.error({archiveFile}, "'--train' has nothing to train: " + why)
        .help(std::string(way) + ", or leave --train out");
    return false;
  }
  reports.warning({archiveFile}, "the training is left out, since there is nothing to train: " + why).help(way);
  adopted.training.optimizer.reset();
  return true;
}

/// False after an error.
bool Drafter::addTraining() {
  bool trains = adopted.training.optimizer.has_value();
  std::optional<int64_t> batch = setBatch();
  std::vector<std::string> unused = adopted.training.optimizer ? findUnused() : std::vector<std::string>();
  TrainingFacts facts{model, draft.mesh, unused, draft.splitsBatch, batch};
  if (!checkTrained(facts))
    return false;
  draft.training = draftTraining(adopted.training, facts, reports);
  bool isForeign =
      options.from.kind == ForeignPlan::Kind::automodel || options.from.kind == ForeignPlan::Kind::megatron;
  if (isForeign && !draft.loss.empty() && !adopted.training.optimizer)
    draft.leftOut.push_back(trains
                                ? "the training: there is nothing to train"
                                : "settings that need an optimizer, which the plan does not state: --train drafts one");
  return !reports.hasErrors();
}

//===----------------------------------------------------------------------===//
// Styles from the graph
//===----------------------------------------------------------------------===//

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

/// Summarizes the draft, with the counts that 'check' prints.
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

/// The style as the text of an entry.
static std::string styleText(const StyleChoice &choice, const std::vector<DraftAxis> &mesh) {
  static constexpr const char *words[] = {"colwise ", "rowwise ", "sequence ", "expert "};
  if (choice.style == DraftStyle::whole)
    return "replicate, input replicate";
  std::string axes = choice.style == DraftStyle::expert ? axesOfExperts(mesh) : axesOfRole(mesh, AxisRole::tensor);
  return words[static_cast<size_t>(choice.style)] + axes +
         (choice.parts.empty() ? "" : " " + partsClause(choice.parts, choice.isOfHeads));
}

StyleRequest Drafter::request() const {
  bool hasTensorAxes = !axesOfRole(draft.mesh, AxisRole::tensor).empty();
  return {hasTensorAxes ? std::optional(shardsOfRole(draft.mesh, AxisRole::tensor)) : std::nullopt,
          shardsOfRole(draft.mesh, AxisRole::data), sequence};
}

static mlir::func::FuncOp firstFunction(Compilation &compilation) {
  return *compilation.module().getOps<mlir::func::FuncOp>().begin();
}

/// Imports the model under a plan without any splits, from which styles are chosen. Null after an error.
std::unique_ptr<Compilation> Drafter::importModel() {
  draft.splitsBatch = false;
  auto compilation = std::make_unique<Compilation>(compileOptions(writeDraft(draft).text));
  if (!compilation->run(Phase::import)) {
    reportAsModel(compilation->diagnostics());
    return nullptr;
  }
  // Lists of experts are stacked for a plan that divides them, and then they are experts as others are.
  for (const auto &[list, experts] : listsOfExperts(firstFunction(*compilation)))
    if (!adopted.styles && request().dividesExperts(experts)) {
      draft.modules.push_back(list);
      draft.styles.push_back({list, "expert " + axesOfExperts(draft.mesh)});
    }
  if (!draft.styles.empty()) {
    auto stacked = std::make_unique<Compilation>(compileOptions(writeDraft(draft).text));
    // Modules that differ are not stacked, and the styles are those of their parameters.
    if (stacked->run(Phase::import)) {
      compilation = std::move(stacked);
      model = compilation->model();
    }
    draft.styles.clear();
    draft.modules.clear();
  }
  draft.splitsBatch = !axesOfRole(draft.mesh, AxisRole::data).empty();
  return compilation;
}

/// Chooses styles from the graph of the model.
bool Drafter::chooseFromGraph() {
  std::unique_ptr<Compilation> compilation = importModel();
  if (!compilation)
    return false;
  mlir::func::FuncOp function = firstFunction(*compilation);
  FeatureGraph graph = buildFeatureGraph(function, model);
  collectModules(graph);
  draft.inputNames = positionsFirst(graph);
  draft.readsTokens = llvm::any_of(graph.weights, [](const WeightUse &weight) { return weight.looksUpInput; });
  if (adopted.styles) {
    if (!request().tensorRanks)
      return true;
    choices = takeAdoptedStyles(adopted, draft);
    inputsOf = wholeInputClauses(adopted, function);
    return true;
  }
  StyleChoices found = chooseStyles(graph, request());
  choices = std::move(found.styles);
  for (const StyleChoice &choice : choices)
    draft.styles.push_back({choice.path, styleText(choice, draft.mesh)});
  if (!draft.inputNames.empty())
    // The sequence is dim 0 of inputs that have positions first.
    for (auto [choice, style] : llvm::zip_equal(choices, draft.styles))
      if (choice.style == DraftStyle::sequence)
        style.label += " dim 0";
  int64_t ranks = request().dataRanks * request().tensorRanks.value_or(1);
  for (const Mixture &mixture : found.fewExperts)
    draft.notes.push_back(moduleText(mixture.path) + " has " + std::to_string(mixture.experts) +
                          " experts, fewer than the " + std::to_string(ranks) + " ranks of " +
                          axesOfExperts(draft.mesh) + ": no 'expert' is drafted.");
  for (const UndividedModule &module : found.undivided)
    draft.undivided.push_back({module.path, module.reason});
  return true;
}

//===----------------------------------------------------------------------===//
// Messages of the compiler
//===----------------------------------------------------------------------===//

CompileOptions Drafter::compileOptions(const std::string &text) const {
  CompileOptions compile;
  compile.planFile = options.planFile;
  compile.planText = text;
  return compile;
}

/// Reports errors that no style causes as errors of the model, because the user cannot see the draft.
void Drafter::reportAsModel(const Diagnostics &errors) {
  for (const meshplan::Diagnostic &error : errors.all()) {
    if (error.severity != Severity::Error)
      continue;
    meshplan::Diagnostic &own = reports.error({archiveFile}, error.message);
    for (const std::string &help : error.helps)
      own.help(help);
  }
}

//===----------------------------------------------------------------------===//

int32_t Drafter::reportFile(Diagnostics &diagnostics) {
  const SourceBuffer *file = diagnostics.sources().find(options.modelFile);
  return file ? file->file() : -1;
}

std::optional<DraftedPlan> Drafter::run() {
  if (!readModel() || !chooseFromGraph() || !addTraining())
    return std::nullopt;
  DraftCorrections corrections(draft, choices, std::move(inputsOf));
  DraftText text;
  for (auto next = DraftCorrections::Next::compile; next == DraftCorrections::Next::compile;) {
    text = writeDraft(draft);
    Compilation compilation(compileOptions(text.text));
    // All phases, because the last ones also refuse plans, and a draft is worth little if it does not compile.
    bool done = compilation.run(Phase::schedule);
    next = corrections.correct(text, done, compilation.diagnostics());
    if (next == DraftCorrections::Next::refuse) {
      reportAsModel(compilation.diagnostics());
      return std::nullopt;
    }
  }
  Sources sources;
  std::optional<std::string> formatted = formatPlan(sources.add(options.planFile, text.text), reports);
  if (!formatted)
    return std::nullopt;
  auto isSequence = [](const StyleChoice &choice) { return choice.style == DraftStyle::sequence; };
  if (sequence && llvm::none_of(choices, isSequence))
    reports.warning({archiveFile}, "'--sequence' has no effect: no norm with a weight can split the sequence")
        .help("give norms without weights the style by hand: 'PATH: sequence AXIS'");
  DraftedPlan plan = describe(std::move(*formatted));
  plan.mesh = draft.mesh;
  return plan;
}

std::optional<DraftedPlan> meshplan::draftPlan(const DraftOptions &options, Diagnostics &diagnostics) {
  return Drafter(options, diagnostics).run();
}
