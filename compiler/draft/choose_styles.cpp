//===- choose_styles.cpp - tensor styles from a feature graph -------------===//

#include "compiler/draft/choose_styles.h"
#include "compiler/draft/dim_classes.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <set>

using namespace meshplan;
using Role = WeightUse::Role;

namespace {

class StyleChooser {
public:
  StyleChooser(const FeatureGraph &graph, bool sequence) : graph(graph), sequence(sequence), classes(graph) {}

  StyleChoices choose();

private:
  void choosePairs();
  void chooseHeads();
  void chooseEmbeddings();
  void chooseNorms();
  bool isPair(size_t number) const;
  bool isNorm(const WeightUse &weight) const;
  bool give(const std::vector<size_t> &colwise, const std::vector<size_t> &rowwise, size_t group);
  void collectUndivided(StyleChoices &choices) const;
  std::string whyWhole(const WeightUse &weight) const;
  std::string wholeAt(size_t call, const char *features) const;

  const FeatureGraph &graph;
  bool sequence;
  DimClasses classes;
  std::map<std::string, StyleChoice> given; ///< by module
  std::set<size_t> starts;                  ///< classes of the features that pairs and heads start from
};

} // namespace

//===----------------------------------------------------------------------===//
// Pairs, heads, embeddings, norms
//===----------------------------------------------------------------------===//

/// Gives styles to the modules of these weights, to all or to none: a module has one style.
bool StyleChooser::give(const std::vector<size_t> &colwise, const std::vector<size_t> &rowwise, size_t group) {
  std::map<std::string, StyleChoice> wanted;
  auto add = [&](size_t index, DraftStyle style) {
    const std::string &module = graph.weights[index].module;
    StyleChoice choice{module, style, group};
    return !given.count(module) && wanted.try_emplace(module, choice).first->second.style == style;
  };
  for (size_t index : colwise)
    if (!add(index, DraftStyle::colwise))
      return false;
  for (size_t index : rowwise)
    if (!add(index, DraftStyle::rowwise))
      return false;
  given.merge(wanted);
  for (size_t index : colwise)
    if (graph.weights[index].role == Role::linear)
      starts.insert(classes.find(*graph.weights[index].inputDim));
  return true;
}

/// True if the weights around a class can be divided so that only its sums are communicated. `give` refuses a weight
/// that has both its dims in the class.
bool StyleChooser::isPair(size_t number) const {
  const DimClass &own = classes[number];
  return !own.wholeAt && !own.isReduced && !own.isOutput && !own.producedBy.empty() && !own.contractedBy.empty() &&
         own.lookedUpBy.empty();
}

void StyleChooser::choosePairs() {
  std::set<size_t> seen;
  for (const WeightUse &weight : graph.weights) {
    if (weight.role != Role::linear)
      continue;
    size_t number = classes.find(*weight.outputDim);
    if (seen.insert(number).second && isPair(number))
      give(classes[number].producedBy, classes[number].contractedBy, number);
  }
}

void StyleChooser::chooseHeads() {
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (weight.role != Role::linear || given.count(weight.module))
      continue;
    size_t number = classes.find(*weight.outputDim);
    const DimClass &own = classes[number];
    if (!own.wholeAt && own.contractedBy.empty() && (own.isOutput || own.isReduced))
      give({index}, {}, number);
  }
}

void StyleChooser::chooseEmbeddings() {
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (weight.role != Role::embedding || !weight.looksUpInput)
      continue;
    size_t number = classes.find(*weight.inputDim);
    if (!classes[number].wholeAt)
      give({}, {index}, number);
  }
}

/// True for a weight over features that pairs start from, in a module that needs these features whole: it norms them.
bool StyleChooser::isNorm(const WeightUse &weight) const {
  if (weight.role != Role::other || weight.dims.size() != 1)
    return false;
  size_t number = classes.find(weight.dims.front());
  auto needsWhole = [&](const DimLink &link) {
    return link.kind == DimLink::Kind::whole && graph.calls[link.call].module == weight.module &&
           classes.find(link.dims.front()) == number;
  };
  return starts.count(number) && llvm::any_of(graph.links, needsWhole);
}

void StyleChooser::chooseNorms() {
  size_t group = graph.dimCount; // not that of a class
  for (const WeightUse &weight : graph.weights)
    if (!given.count(weight.module) && isNorm(weight))
      given[weight.module] = {weight.module, DraftStyle::sequence, group};
}

//===----------------------------------------------------------------------===//
// What stays whole
//===----------------------------------------------------------------------===//

/// True for operators that take a dim apart, as after a projection for several purposes.
static bool cuts(llvm::StringRef target) {
  llvm::StringRef name = target.split('.').second.split('.').first;
  return name.starts_with("split") || name == "chunk" || name == "slice" || name == "unbind" || name == "narrow" ||
         name == "select";
}

std::string StyleChooser::wholeAt(size_t call, const char *features) const {
  const GraphCall &own = graph.calls[call];
  // Equal layers have equal reasons.
  std::string where = own.module.empty() ? "" : " in '" + withoutIndices(own.module) + "'";
  if (cuts(own.target))
    return "a fused weight: '" + own.target + "'" + where + " takes the " + features + " features apart";
  return "'" + own.target + "'" + where + " needs the " + features + " features whole";
}

std::string StyleChooser::whyWhole(const WeightUse &weight) const {
  if (weight.role == Role::other)
    return weight.call < graph.calls.size() ? "no style divides a weight of '" + graph.calls[weight.call].target + "'"
                                            : "nothing reads it";
  if (weight.role == Role::embedding && !weight.looksUpInput)
    return "the indices do not come from an input of the model";
  const DimClass &input = classes[classes.find(*weight.inputDim)], &output = classes[classes.find(*weight.outputDim)];
  if (weight.role == Role::embedding)
    return input.wholeAt ? wholeAt(*input.wholeAt, "input") : "another weight of the module has another style";
  // Where a fused weight is on one side, that is the reason for both sides.
  if (input.wholeAt && cuts(graph.calls[*input.wholeAt].target))
    return wholeAt(*input.wholeAt, "input");
  if (output.wholeAt)
    return wholeAt(*output.wholeAt, "output");
  return "the features are not those of a pair of linear operators";
}

void StyleChooser::collectUndivided(StyleChoices &choices) const {
  std::set<std::string> seen;
  for (const WeightUse &weight : graph.weights)
    if (weight.dims.size() > 1 && !given.count(weight.module) && seen.insert(weight.module).second)
      choices.undivided.push_back({weight.module, whyWhole(weight)});
}

StyleChoices StyleChooser::choose() {
  choosePairs();
  chooseHeads();
  chooseEmbeddings();
  if (sequence)
    chooseNorms();
  StyleChoices choices;
  std::set<std::string> seen;
  for (const WeightUse &weight : graph.weights)
    if (auto found = given.find(weight.module); found != given.end() && seen.insert(weight.module).second)
      choices.styles.push_back(found->second);
  collectUndivided(choices);
  return choices;
}

StyleChoices meshplan::chooseStyles(const FeatureGraph &graph, bool sequence) {
  return StyleChooser(graph, sequence).choose();
}
