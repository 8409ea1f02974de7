//===- choose_styles.cpp - tensor styles from a feature graph -------------===//
//
// Styles follow from classes of dims that operators split together (dim_classes.h), in the order of what they save:
//
// 0. Experts of mixtures, which are divided as whole experts where samples are.
// 1. Pairs: a class that linear weights produce and others contract, and that no call needs whole. The producers become
//    colwise, the contracting ones rowwise, and a pair communicates one sum. Where two classes want a weight, the
//    better one (`rank`) comes first.
// 2. Heads: features that leave the model, such as a vocabulary.
// 3. Embeddings: tables that token ids look up, by rows.
// 4. With --sequence, norms between pairs; and weights that read what is gathered for others anyway.
//
// Example: hidden 576, queries 576, feed-forward 1536. The class of the queries is produced by q, k and v and
// contracted by o; that of 1536 by gate and up, and by down. The class of the hidden features is produced and
// contracted, too, but norms need it whole. So q, k, v, gate and up are colwise, o and down rowwise, and the residual
// stream stays whole.
//
// A class is given its styles as a whole or not at all: half of a pair would gather what the other half has split.

#include "compiler/draft/choose_styles.h"
#include "compiler/draft/dim_classes.h"
#include "compiler/draft/dim_parts.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>
#include <tuple>

using namespace meshplan;
using Role = WeightUse::Role;

namespace {

class StyleChooser {
public:
  StyleChooser(const FeatureGraph &graph, const StyleRequest &request)
      : graph(graph), request(request), classes(graph), parts(partsOfDims(graph)) {
    for (const DimLink &link : graph.links)
      if (graph.calls[link.call].target == "meshplan.attention")
        attended.insert(classes.find(link.dims.front()));
    for (size_t index = 0; index < graph.weights.size(); ++index) {
      const WeightUse &weight = graph.weights[index];
      if (weight.dims.size() > 1 && (weight.outputDim || weight.inputDim))
        weightsOf[weight.module].push_back(index);
    }
  }

  StyleChoices choose();

private:
  void chooseExperts();
  void choosePairs(const DimClasses &classes);
  void chooseHeads();
  void chooseEmbeddings();
  void chooseNorms();
  void chooseWhole();
  void chooseCompanions(const DimClass &own, const std::vector<size_t> &others, size_t number);
  size_t groupOf(const std::string &module);
  bool isNeededWithAllPositions(const WeightUse &weight) const;
  bool isBottleneck(const DimClass &own) const;
  bool isSideProduct(size_t index) const;
  std::map<std::string, std::set<int64_t>> normedExtents() const;
  bool give(const std::vector<size_t> &colwise, const std::vector<size_t> &rowwise, size_t group);
  bool hasStyle(const std::string &module) const;
  bool haveOneStyle(const std::string &module) const;
  void collectStyles(StyleChoices &choices) const;
  void collectUndivided(StyleChoices &choices) const;

  const FeatureGraph &graph;
  const StyleRequest &request;
  DimClasses classes;
  std::map<std::string, std::vector<size_t>> weightsOf; ///< those that a style of the module would apply to
  std::set<size_t> attended;                            ///< classes with dims of attentions
  std::vector<std::vector<int64_t>> parts;              ///< parts of each dim
  std::map<size_t, StyleChoice> given;                  ///< by weight
  std::map<std::string, StyleChoice> givenToModule;     ///< styles that are not about weights
  std::map<size_t, std::string> refused;                ///< reason, by weight
  std::set<size_t> starts;                              ///< classes of the inputs of pairs and heads
  std::map<std::string, size_t> layerGroups;            ///< by module, without the numbers of its layers
};

} // namespace

/// The module whose style divides the weight.
static const std::string &styledModule(const WeightUse &weight) {
  return weight.expertsOf ? *weight.expertsOf : weight.module;
}

/// True for a weight that computes few features from many that are split, such as one number for each head: its partial
/// sums are reduced, and the result is split again.
bool StyleChooser::isSideProduct(size_t index) const {
  const WeightUse &weight = graph.weights[index];
  return graph.extents[*weight.outputDim] < graph.extents[*weight.inputDim];
}

/// Gives styles to all of these weights, or to none. A weight that both produces and contracts the features is rowwise.
bool StyleChooser::give(const std::vector<size_t> &colwise, const std::vector<size_t> &rowwise, size_t group) {
  std::map<size_t, StyleChoice> wanted;
  std::string reason;
  auto add = [&](size_t index, DraftStyle style, size_t dim) {
    const WeightUse &weight = graph.weights[index];
    StyleChoice choice{weight.name, style, parts[dim], group, attended.count(classes.find(dim)) != 0};
    bool isNew = wanted.try_emplace(index, choice).second;
    if (!reason.empty())
      return;
    std::string module = moduleText(withoutIndices(weight.module));
    if (!isNew)
      reason = "both its input and its output features are those of " + module;
    else if (given.count(index) || givenToModule.count(styledModule(weight)))
      reason = "its features are also those of " + module + ", which has another style";
  };
  for (size_t index : colwise)
    if (!llvm::is_contained(rowwise, index) || !isSideProduct(index))
      add(index, DraftStyle::colwise, *graph.weights[index].outputDim);
  for (size_t index : rowwise)
    add(index, DraftStyle::rowwise, *graph.weights[index].inputDim);
  if (!reason.empty()) {
    for (const auto &[index, choice] : wanted)
      refused.try_emplace(index, reason);
    return false;
  }
  given.merge(wanted);
  for (size_t index : colwise)
    if (graph.weights[index].role == Role::linear)
      starts.insert(classes.find(*graph.weights[index].inputDim));
  return true;
}

bool StyleChooser::hasStyle(const std::string &module) const {
  auto weights = weightsOf.find(module);
  return givenToModule.count(module) || (weights != weightsOf.end() && llvm::any_of(weights->second, [&](size_t index) {
                                           return given.count(index) != 0;
                                         }));
}

/// True if one entry for the module can state the styles of all its weights without misplacing its vectors: the bias of
/// three projections may be one vector of three parts, while each projection has a weight of its own.
bool StyleChooser::haveOneStyle(const std::string &module) const {
  const std::vector<size_t> &weights = weightsOf.at(module);
  auto first = given.find(weights.front());
  if (first == given.end())
    return false;
  const StyleChoice &style = first->second;
  bool agree = llvm::all_of(weights, [&](size_t index) {
    auto own = given.find(index);
    return own != given.end() && own->second.style == style.style && own->second.parts == style.parts;
  });
  return agree && llvm::none_of(graph.weights, [&](const WeightUse &weight) {
           if (weight.module != module || weight.dims.size() != 1 || style.style != DraftStyle::colwise)
             return false;
           const std::vector<int64_t> &own = parts[weight.dims.front()];
           return !own.empty() && own != style.parts;
         });
}

/// The style is that of the module that computes rows, and divides all weights of experts there.
void StyleChooser::chooseExperts() {
  for (const WeightUse &weight : graph.weights) {
    if (!weight.expertsOf || !request.dividesExperts(graph.extents[weight.dims.front()]))
      continue;
    givenToModule[*weight.expertsOf] = {*weight.expertsOf, DraftStyle::expert, {}, groupOf(*weight.expertsOf)};
    // Products with the weights begin at the tokens that go to the experts, as those of other pairs do.
    if (weight.inputDim)
      starts.insert(classes.find(*weight.inputDim));
  }
}

/// True if the weights around a class can be split so that only a sum is communicated.
static bool isPair(const DimClass &own) {
  return !own.wholeAt && !own.isOutput && !own.producedBy.empty() && !own.contractedBy.empty() &&
         own.lookedUpBy.empty();
}

/// True if each weight has at least four times as many features on its other side.
bool StyleChooser::isBottleneck(const DimClass &own) const {
  auto extentOf = [&](std::optional<size_t> dim) { return dim ? graph.extents[*dim] : 0; };
  auto isNarrow = [&](int64_t inside, int64_t outside) { return outside >= 4 * inside; };
  return llvm::all_of(own.producedBy,
                      [&](size_t index) {
                        const WeightUse &weight = graph.weights[index];
                        return isNarrow(extentOf(weight.outputDim), extentOf(weight.inputDim));
                      }) &&
         llvm::all_of(own.contractedBy, [&](size_t index) {
           const WeightUse &weight = graph.weights[index];
           return isNarrow(extentOf(weight.inputDim), extentOf(weight.outputDim));
         });
}

void StyleChooser::choosePairs(const DimClasses &classes) {
  std::set<size_t> seen;
  std::vector<size_t> pairs;
  std::map<size_t, std::vector<size_t>> others; // by class: weights that are not linear
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (!weight.outputDim)
      continue;
    size_t number = classes.find(*weight.outputDim);
    if (weight.role != Role::linear && weight.dims.size() > 1)
      others[number].push_back(index);
    if (weight.role != Role::embedding && seen.insert(number).second && isPair(classes[number]))
      pairs.push_back(number);
  }
  auto rank = [&](size_t number) {
    const DimClass &own = classes[number];
    bool isAttended = llvm::any_of(own.producedBy, [&](size_t index) {
      return attended.count(this->classes.find(*graph.weights[index].outputDim)) != 0;
    });
    // Later are: classes that other calls reduce, since each reduction is a collective; bottlenecks, where a split
    // saves little; what attention does not read. Of the rest, classes with fewer weights come first, because a
    // conflict then refuses fewer of them.
    return std::tuple(own.isReduced, isBottleneck(own), !isAttended, own.producedBy.size() + own.contractedBy.size());
  };
  llvm::stable_sort(pairs, [&](size_t left, size_t right) { return rank(left) < rank(right); });
  for (size_t number : pairs)
    if (give(classes[number].producedBy, classes[number].contractedBy, number))
      chooseCompanions(classes[number], others[number], number);
}

/// Gives styles to other weights of two or more dims whose own features are those of a pair. Embeddings are included
/// only if they belong to a module of the pair, such as biases of experts: others may be split by rows.
void StyleChooser::chooseCompanions(const DimClass &own, const std::vector<size_t> &others, size_t number) {
  for (size_t index : others) {
    const WeightUse &weight = graph.weights[index];
    bool isOfPair = weight.role == Role::other || llvm::any_of(own.producedBy, [&](size_t other) {
                      return graph.weights[other].module == weight.module;
                    });
    if (isOfPair && !given.count(index))
      give({index}, {}, number);
  }
}

void StyleChooser::chooseHeads() {
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (weight.role != Role::linear || given.count(index))
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
    // A table of 512 positions beside one of 50000 tokens: its rows would be split for a few bytes, at the price of a
    // sum.
    size_t largest = *llvm::max_element(tables, isLess);
    if (rowsOf(index) >= rowsOf(largest) / 2)
      give({}, {index}, classes.find(*weight.inputDim));
    else
      refused.try_emplace(index, "its " + std::to_string(rowsOf(index)) + " rows are few beside the " +
                                     std::to_string(rowsOf(largest)) + " of " +
                                     moduleText(graph.weights[largest].module));
  }
}

/// By module: extents of the features that it reduces or needs whole, if it produces inputs of pairs: it normalizes
/// them.
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

/// The group of a module that is not in a class: one for all equal layers.
size_t StyleChooser::groupOf(const std::string &module) {
  return layerGroups.try_emplace(withoutIndices(module), graph.extents.size() + layerGroups.size()).first->second;
}

void StyleChooser::chooseNorms() {
  std::map<std::string, std::set<int64_t>> extents = normedExtents();
  for (const WeightUse &weight : graph.weights)
    if (weight.dims.size() > 1)
      extents.erase(weight.module);
  // The root module is never a norm: it has other operators, and all inputs of the model enter it.
  auto isNorm = [&](const WeightUse &weight) {
    return !weight.module.empty() && weight.role == Role::other && weight.dims.size() == 1 &&
           extents[weight.module].count(graph.extents[weight.dims.front()]);
  };
  for (const WeightUse &weight : graph.weights)
    if (!hasStyle(weight.module) && isNorm(weight))
      givenToModule[weight.module] = {weight.module, DraftStyle::sequence, {}, groupOf(weight.module)};
}

/// True if the call that needs the features whole also needs another dim whole that the weight does not change.
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

/// Where other modules gather the positions of an input, a weight that reads it split by positions would have its own
/// output gathered afterwards; replicated, it reads what was gathered before.
void StyleChooser::chooseWhole() {
  for (const WeightUse &weight : graph.weights)
    if (weight.role == Role::linear && !hasStyle(styledModule(weight)) &&
        starts.count(classes.find(*weight.inputDim)) && isNeededWithAllPositions(weight))
      givenToModule[weight.module] = {weight.module, DraftStyle::whole, {}, groupOf(weight.module)};
}

/// A module gets one style if all its weights have it; otherwise each weight gets its own.
void StyleChooser::collectStyles(StyleChoices &choices) const {
  std::set<std::string> seen;
  auto add = [&](StyleChoice choice, const std::string &path) {
    choice.path = path;
    if (seen.insert(path).second)
      choices.styles.push_back(std::move(choice));
  };
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (auto own = givenToModule.find(styledModule(weight)); own != givenToModule.end())
      add(own->second, own->first);
    else if (auto found = given.find(index); found != given.end())
      add(found->second, haveOneStyle(weight.module) ? weight.module : weight.name);
  }
}

void StyleChooser::collectUndivided(StyleChoices &choices) const {
  std::set<std::string> seen;
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (weight.dims.size() < 2 || given.count(index) || givenToModule.count(styledModule(weight)))
      continue;
    const std::string &path = hasStyle(weight.module) ? weight.name : weight.module;
    if (!seen.insert(path).second)
      continue;
    // A call that needs the features whole is a better reason than a conflict with other weights.
    bool isNeeded = weight.role == Role::linear && classes[classes.find(*weight.outputDim)].wholeAt;
    auto reason = refused.find(index);
    choices.undivided.push_back(
        {path, reason != refused.end() && !isNeeded ? reason->second : whyWhole(graph, classes, weight)});
  }
}

StyleChoices StyleChooser::choose() {
  chooseExperts();
  StyleChoices choices;
  if (request.dataRanks > 1)
    llvm::copy_if(graph.mixtures, std::back_inserter(choices.fewExperts),
                  [&](const Mixture &mixture) { return !request.dividesExperts(mixture.experts); });
  if (!request.tensorRanks) {
    collectStyles(choices);
    return choices;
  }
  choosePairs(classes);
  // Second, for what is left: with classes that begin at grouped convolutions, which would otherwise join the features
  // before and after them.
  choosePairs(DimClasses(graph, /*beginsAtGroups=*/true));
  chooseHeads();
  chooseEmbeddings();
  if (request.sequence) {
    chooseNorms();
    chooseWhole();
  }
  collectStyles(choices);
  collectUndivided(choices);
  return choices;
}

StyleChoices meshplan::chooseStyles(const FeatureGraph &graph, const StyleRequest &request) {
  return StyleChooser(graph, request).choose();
}
