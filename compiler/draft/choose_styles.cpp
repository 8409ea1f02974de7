//===- choose_styles.cpp - tensor styles from a feature graph -------------===//

#include "compiler/draft/choose_styles.h"
#include "compiler/draft/dim_classes.h"
#include "compiler/draft/dim_parts.h"
#include "compiler/draft/why_whole.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace meshplan;
using Role = WeightUse::Role;

namespace {

class StyleChooser {
public:
  StyleChooser(const FeatureGraph &graph, bool sequence)
      : graph(graph), sequence(sequence), classes(graph), parts(partsOfDims(graph)) {}

  StyleChoices choose();

private:
  void choosePairs();
  void chooseHeads();
  void chooseEmbeddings();
  void chooseNorms();
  void chooseWhole();
  size_t groupOf(const std::string &module);
  bool isNeededWithAllPositions(const WeightUse &weight) const;
  bool isPair(size_t number) const;
  std::map<std::string, std::set<int64_t>> normedExtents() const;
  bool give(const std::vector<size_t> &colwise, const std::vector<size_t> &rowwise, size_t group);
  void collectUndivided(StyleChoices &choices) const;

  const FeatureGraph &graph;
  bool sequence;
  DimClasses classes;
  std::vector<std::vector<int64_t>> parts;    ///< of dims
  std::map<std::string, StyleChoice> given;   ///< by module
  std::map<std::string, std::string> refused; ///< reason, by module
  std::set<size_t> starts;                    ///< classes of the features that pairs and heads start from
  std::map<std::string, size_t> layerGroups;  ///< by module, without the numbers of its layers
};

} // namespace

/// Gives styles to the modules of these weights, to all or to none: a module has one style.
bool StyleChooser::give(const std::vector<size_t> &colwise, const std::vector<size_t> &rowwise, size_t group) {
  std::map<std::string, StyleChoice> wanted;
  std::string reason;
  auto add = [&](size_t index, DraftStyle style, size_t dim) {
    const std::string &module = graph.weights[index].module;
    StyleChoice choice{module, style, parts[dim], group};
    const StyleChoice &own = wanted.try_emplace(module, choice).first->second;
    if (!reason.empty())
      return;
    if (own.style != style || own.parts != choice.parts)
      reason = "the weights of " + moduleText(withoutIndices(module)) + " would need different styles";
    else if (given.count(module))
      reason = "its features are also those of " + moduleText(withoutIndices(module)) + ", which has another style";
  };
  for (size_t index : colwise)
    add(index, DraftStyle::colwise, *graph.weights[index].outputDim);
  for (size_t index : rowwise)
    add(index, DraftStyle::rowwise, *graph.weights[index].inputDim);
  if (!reason.empty()) {
    for (const auto &[module, choice] : wanted)
      refused.try_emplace(module, reason);
    return false;
  }
  given.merge(wanted);
  for (size_t index : colwise)
    if (graph.weights[index].role == Role::linear)
      starts.insert(classes.find(*graph.weights[index].inputDim));
  return true;
}

/// True if the weights around a class can be divided so that only sums are communicated.
bool StyleChooser::isPair(size_t number) const {
  const DimClass &own = classes[number];
  return !own.wholeAt && !own.isOutput && !own.producedBy.empty() && !own.contractedBy.empty() &&
         own.lookedUpBy.empty();
}

void StyleChooser::choosePairs() {
  std::set<size_t> seen;
  std::vector<size_t> pairs;
  for (const WeightUse &weight : graph.weights)
    if (weight.role == Role::linear)
      if (size_t number = classes.find(*weight.outputDim); seen.insert(number).second && isPair(number))
        pairs.push_back(number);
  auto rank = [&](size_t number) {
    const DimClass &own = classes[number];
    return std::pair(own.isReduced, own.producedBy.size() + own.contractedBy.size());
  };
  llvm::stable_sort(pairs, [&](size_t left, size_t right) { return rank(left) < rank(right); });
  for (size_t number : pairs)
    give(classes[number].producedBy, classes[number].contractedBy, number);
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
  auto rowsOf = [&](size_t index) { return graph.extents[*graph.weights[index].inputDim]; };
  std::vector<size_t> tables;
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (weight.role == Role::embedding && weight.looksUpInput && !classes[classes.find(*weight.inputDim)].wholeAt)
      tables.push_back(index);
  }
  auto isLess = [&](size_t left, size_t right) { return rowsOf(left) < rowsOf(right); };
  for (size_t index : tables) {
    const WeightUse &weight = graph.weights[index];
    size_t largest = *llvm::max_element(tables, isLess);
    if (rowsOf(index) >= rowsOf(largest) / 2)
      give({}, {index}, classes.find(*weight.inputDim));
    else
      refused.try_emplace(weight.module, "its " + std::to_string(rowsOf(index)) + " rows are few beside the " +
                                             std::to_string(rowsOf(largest)) + " of " +
                                             moduleText(graph.weights[largest].module));
  }
}

/// By module: extents of the features that it needs all of, if it makes what pairs start from: it norms them.
std::map<std::string, std::set<int64_t>> StyleChooser::normedExtents() const {
  std::set<std::string> feeding;
  for (const DimLink &link : graph.links)
    if (starts.count(classes.find(link.dims.front())))
      feeding.insert(graph.calls[link.call].module);
  std::map<std::string, std::set<int64_t>> extents;
  for (const DimLink &link : graph.links)
    if (link.kind == DimLink::Kind::whole || link.kind == DimLink::Kind::reduced)
      if (const std::string &module = graph.calls[link.call].module; feeding.count(module))
        extents[module].insert(graph.extents[link.dims.front()]);
  return extents;
}

/// One for equal layers, and not that of a class.
size_t StyleChooser::groupOf(const std::string &module) {
  return layerGroups.try_emplace(withoutIndices(module), graph.extents.size() + layerGroups.size()).first->second;
}

void StyleChooser::chooseNorms() {
  std::map<std::string, std::set<int64_t>> extents = normedExtents();
  for (const WeightUse &weight : graph.weights)
    if (weight.dims.size() > 1)
      extents.erase(weight.module);
  // The root has other operators than those of its norms, and all that enters the model enters it.
  auto isNorm = [&](const WeightUse &weight) {
    return !weight.module.empty() && weight.role == Role::other && weight.dims.size() == 1 &&
           extents[weight.module].count(graph.extents[weight.dims.front()]);
  };
  for (const WeightUse &weight : graph.weights)
    if (!given.count(weight.module) && isNorm(weight))
      given[weight.module] = {weight.module, DraftStyle::sequence, {}, groupOf(weight.module)};
}

/// True if the call that needs the features whole also needs a dim whole that the weight leaves as it is.
bool StyleChooser::isNeededWithAllPositions(const WeightUse &weight) const {
  size_t features = classes.find(*weight.outputDim);
  std::optional<size_t> needs = classes[features].wholeAt;
  std::set<size_t> kept, needed;
  for (const DimLink &link : graph.links) {
    size_t number = classes.find(link.dims.front());
    if (link.call == weight.call && link.kind == DimLink::Kind::together && number != features)
      kept.insert(number);
    if (link.call == needs && link.kind == DimLink::Kind::whole)
      needed.insert(number);
  }
  return llvm::any_of(kept, [&](size_t number) { return needed.count(number); });
}

/// Where others gather the positions of an input, a weight that reads them too makes for nothing what would be gathered
/// behind it.
void StyleChooser::chooseWhole() {
  for (const WeightUse &weight : graph.weights)
    if (weight.role == Role::linear && !given.count(weight.module) && starts.count(classes.find(*weight.inputDim)) &&
        isNeededWithAllPositions(weight))
      given[weight.module] = {weight.module, DraftStyle::whole, {}, groupOf(weight.module)};
}

void StyleChooser::collectUndivided(StyleChoices &choices) const {
  std::set<std::string> seen;
  for (const WeightUse &weight : graph.weights) {
    if (weight.dims.size() < 2 || given.count(weight.module) || !seen.insert(weight.module).second)
      continue;
    // What needs its features whole says more of a weight than what the others around them are.
    bool isNeeded = weight.role == Role::linear && classes[classes.find(*weight.outputDim)].wholeAt;
    auto reason = refused.find(weight.module);
    choices.undivided.push_back(
        {weight.module, reason != refused.end() && !isNeeded ? reason->second : whyWhole(graph, classes, weight)});
  }
}

StyleChoices StyleChooser::choose() {
  choosePairs();
  chooseHeads();
  chooseEmbeddings();
  if (sequence) {
    chooseNorms();
    chooseWhole();
  }
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
