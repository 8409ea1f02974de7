//===- foreign_rules.cpp - rules with styles of Hugging Face --------------===//
//
// A rule of Hugging Face, such as `layers.*.mlp.up_proj: colwise`, names modules below the base model, and the exported
// model may contain that below a prefix: `model.layers.0.mlp.up_proj`. The prefix is found once for all rules of a
// plan, as the one under which their names fit. Rules that match nothing are warned about: plans of Hugging Face are
// written for families of models, of which some lack a module.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/huggingface.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using Meaning = ForeignStyle::Meaning;

static std::string under(const std::string &start, const std::string &rule) {
  return start.empty() ? rule : start + "." + rule;
}

/// "'a', 'b' and 3 more"
static std::string firstOf(const std::vector<std::string> &names) {
  constexpr size_t most = 2;
  std::string text = quotedList(llvm::ArrayRef(names).take_front(most), ",");
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

std::optional<std::string> ForeignRules::startOf(const YamlEntry &plan, const YamlEntry *prefix) {
  if (prefix && !prefix->value.saysNothing())
    return prefix->value.text;
  std::vector<std::string> rules;
  rules.reserve(plan.value.entries.size());
  for (const YamlEntry &rule : plan.value.entries)
    rules.push_back(rule.key);
  std::vector<std::string> starts = paths.startsOf(rules);
  if (starts.size() < 2)
    return starts.empty() ? std::string() : starts.front();
  // The model itself is the natural root: a name that fits there is meant there.
  for (std::string &start : starts)
    if (start.empty())
      return start;
  diagnostics.error(plan.keyRange, "the names of '" + plan.key + "' fit below several modules: " + firstOf(starts))
      .help("\"base_model_prefix\": \"" + starts.front() + "\" says which");
  return std::nullopt;
}

void ForeignRules::take(const YamlEntry &plan, const YamlEntry *prefix) {
  if (plan.value.saysNothing())
    return;
  if (plan.value.kind != YamlValue::Kind::map) {
    diagnostics.error(plan.value.range, "'" + plan.key + "' is not a map from names to styles");
    return;
  }
  std::optional<std::string> start = startOf(plan, prefix);
  if (!start)
    return;
  for (const YamlEntry &rule : plan.value.entries)
    takeRule(*start, rule);
}

void ForeignRules::reportUnmatched(const std::string &start, const YamlEntry &rule) {
  std::string name = under(start, rule.key);
  Diagnostic &warning =
      diagnostics.warning(rule.keyRange, "'" + name + "' matches no module and no parameter of the model");
  std::vector<std::string> near = nearestNames(name, paths.names(), 1);
  if (!near.empty())
    warning.help("the nearest name is '" + near.front() + "'");
}

void ForeignRules::takeRule(const std::string &start, const YamlEntry &rule) {
  const ForeignStyle *style = rule.value.kind == YamlValue::Kind::scalar ? findForeignStyle(rule.value.text) : nullptr;
  if (!style) {
    std::string name = rule.value.kind == YamlValue::Kind::scalar ? " '" + rule.value.text + "'" : "";
    std::vector<std::string> near = nearestNames(rule.value.text, foreignStyleNames(), 1);
    Diagnostic &error = diagnostics.error(rule.value.range, "unknown style" + name + " of '" + rule.key + "'");
    if (!near.empty())
      error.help("did you mean '" + near.front() + "'?");
    error.help("styles are " + llvm::join(foreignStyleNames(), ", "));
    return;
  }
  RuleMatch found = paths.match(start, rule.key);
  if (found.empty())
    return reportUnmatched(start, rule);
  ++matched;
  if (style->takesWhole)
    for (size_t module : found.modules)
      wholeInputs.push_back(model.modules[module].path);
  if (style->meaning == Meaning::nothing) {
    nothing[style->name.str()].push_back(under(start, rule.key));
    return;
  }
  if (style->meaning == Meaning::experts)
    experts.try_emplace(style->name.str(), Left{rule.value.range, {}})
        .first->second.rules.push_back(under(start, rule.key));
  for (size_t module : found.modules)
    giveModule(module, *style);
  for (const RuleParameter &named : found.parameters)
    giveParameter(named.module, named.parameter, *style);
}

void ForeignRules::leaveExperts(size_t module, const ForeignStyle &style) {
  whole.try_emplace(module, "'" + style.name.str() + "' " + style.says.str() + ": 'expert AXIS' does");
}

void ForeignRules::giveModule(size_t module, const ForeignStyle &style) {
  if (style.meaning == Meaning::experts)
    return leaveExperts(module, style);
  // Placements stay: the rule of a parameter holds beside that of its module.
  ModuleClauses &own = clauses[module];
  own.divides = style.meaning != Meaning::replicate;
  own.sequence = style.meaning == Meaning::sequence;
  switch (style.meaning) {
  case Meaning::colwise:
  case Meaning::featuresOfRows:
    own.style = "colwise " + axes;
    break;
  case Meaning::rowwise:
    own.style = "rowwise " + axes;
    break;
  case Meaning::packedColwise:
    own.style = "colwise " + axes + " parts 2";
    break;
  case Meaning::packedRowwise:
    own.style = "rowwise " + axes + " parts 2";
    break;
  case Meaning::sequence:
    own.style = "sequence " + axes;
    break;
  case Meaning::replicate:
    own.style = "replicate";
    break;
  case Meaning::nothing:
  case Meaning::experts:
    break;
  }
  if (style.gathersOutput)
    own.style += ", output replicate";
  // The original word is noted in the plan only if the style does not repeat it.
  bool differs = style.name != own.style.substr(0, own.style.find(' ')) || style.gathersOutput;
  own.word = differs ? style.name.str() : "";
}

void ForeignRules::giveParameter(size_t module, size_t parameter, const ForeignStyle &style) {
  if (style.meaning == Meaning::experts)
    return leaveExperts(module, style);
  const OutlineParameter &weight = model.parameters[parameter];
  auto name = llvm::find_if(weight.names, [&](const OutlineParameterName &each) { return each.module == module; });
  size_t rank = weight.shape.size();
  // In linear weights, and in stacks of them, the last dim has the input features and the one before it the output
  // features. A vector has one dim to split; the bias of a rowwise weight is added once, after the sum, and is
  // replicated.
  bool ofColumns = style.meaning == Meaning::colwise || style.meaning == Meaning::packedColwise;
  bool isWhole = style.meaning == Meaning::replicate || style.meaning == Meaning::sequence || rank == 0 ||
                 (!ofColumns && rank == 1 && name->leaf == "bias");
  size_t dim = ofColumns && rank > 1 ? rank - 2 : rank - 1;
  bool isPacked = style.meaning == Meaning::packedColwise || style.meaning == Meaning::packedRowwise;
  std::string layout = isWhole ? "replicate" : "split " + std::to_string(dim) + " over " + axes;
  Placement placement{name->leaf, layout + (isPacked && !isWhole ? " parts 2" : ""), style.name.str(), !isWhole};
  std::vector<Placement> &placements = clauses[module].placements;
  auto earlier = llvm::find_if(placements, [&](const Placement &each) { return each.leaf == placement.leaf; });
  if (earlier != placements.end())
    *earlier = std::move(placement);
  else
    placements.push_back(std::move(placement));
}

AdoptedStyle ForeignRules::translated(size_t module, const ModuleClauses &own) const {
  AdoptedStyle style{model.modules[module].path, own.style, "", own.divides, own.sequence};
  std::vector<std::string> words, placements;
  if (!own.word.empty())
    words.push_back(own.word);
  for (const Placement &placement : own.placements) {
    placements.push_back(placement.leaf + ": " + placement.layout);
    style.divides |= placement.divides;
    if (!llvm::is_contained(words, placement.word))
      words.push_back(placement.word);
  }
  if (!placements.empty())
    style.clause += (own.style.empty() ? "" : ", ") + ("parameter { " + llvm::join(placements, "; ") + " }");
  style.from = llvm::join(words, ", ");
  return style;
}

void ForeignRules::reportExperts() {
  for (const auto &[style, left] : experts)
    diagnostics
        .warning(left.range,
                 "'" + style + "' " + findForeignStyle(style)->says.str() + ": left out of " + firstOf(left.rules))
        .help("state 'expert " + axes + "' for the modules that hold the experts");
}

bool ForeignRules::finish(AdoptedPlan &plan) {
  if (diagnostics.hasErrors())
    return false;
  reportExperts();
  if (matched == 0)
    return false;
  plan.styles.emplace();
  for (const auto &[module, own] : clauses)
    plan.styles->push_back(translated(module, own));
  for (const auto &[module, reason] : whole)
    if (!clauses.count(module))
      plan.whole.push_back({model.modules[module].path, reason});
  plan.wholeInputs = std::move(wholeInputs);
  for (const auto &[style, rules] : nothing)
    plan.notes.push_back("'" + style + "' of " + firstOf(rules) + " " + findForeignStyle(style)->says.str() +
                         ": that follows from layouts.");
  return true;
}
