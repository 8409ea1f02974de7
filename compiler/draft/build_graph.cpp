//===- build_graph.cpp - the feature graph of a program -------------------===//
//
// Every call contributes one link for each factor of its rule (op_record.h): the
// dims of operands and results that the factor is the major one of. The kind of
// the factor is the kind of the link. feature_graph.h has an example.
//
// Weights are added last: FeatureSearch finds the activation that each of them
// is combined with, and which of its dims are input and output features.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/build_graph.h"
#include "compiler/sharding/dataflow/attention_heads.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/routers.h"
#include "compiler/sharding/families/convolutions.h"
#include "compiler/sharding/op_record.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/place/feature_dims.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

using namespace mlir;
using namespace meshplan;

namespace {

class GraphBuilder {
public:
  GraphBuilder(func::FuncOp function, const ModelOutline &model) : function(function), model(model), search(function) {}

  FeatureGraph build();

private:
  void addValue(Value value);
  void addInput(Value value);
  void addCall(plan::CallOp call);
  void addTensor(Value value, const TensorFactors &tensor, const FactorRule &rule, std::vector<DimLink> &links,
                 plan::CallOp reader = {});
  bool addCounted(plan::CallOp call, Value value, unsigned dim, llvm::ArrayRef<unsigned> factors,
                  const FactorRule &rule, std::vector<DimLink> &links);
  void addJoined(Value value, unsigned dim, llvm::ArrayRef<unsigned> factors, const FactorRule &rule,
                 std::vector<DimLink> &links);
  void markGroups(plan::CallOp call, const CallView &view, std::vector<DimLink> &links);
  void addWeight(BlockArgument argument, const OutlineParameter &parameter, size_t index);
  size_t firstCall(Value value) const;
  bool comesFromInput(Value value);
  std::optional<std::string> expertsOf(BlockArgument argument, const std::string &module) const;

  func::FuncOp function;
  const ModelOutline &model;
  FeatureSearch search;
  FeatureGraph graph;
  llvm::DenseMap<Value, size_t> firstDim;
  llvm::DenseMap<Operation *, size_t> callIndex;
  llvm::DenseMap<Value, std::string> expertModules; ///< by weight of experts: the module that computes rows with it
};

} // namespace

void GraphBuilder::addValue(Value value) {
  firstDim[value] = graph.extents.size();
  for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape())
    graph.extents.push_back(extent);
}

void GraphBuilder::addInput(Value value) {
  std::vector<size_t> &dims = graph.inputs.emplace_back();
  for (int64_t dim = 0; dim < cast<RankedTensorType>(value.getType()).getRank(); ++dim)
    dims.push_back(firstDim[value] + dim);
}

/// The factors of a concatenated dim are split together, each within its part. The exception is a single key head
/// beside query heads, which all ranks hold.
void GraphBuilder::addJoined(Value value, unsigned dim, llvm::ArrayRef<unsigned> factors, const FactorRule &rule,
                             std::vector<DimLink> &links) {
  DimParts parts{firstDim[value] + dim, {}, {}};
  bool isHead = isOnlyKeyHead(value, dim, 0, cast<RankedTensorType>(value.getType()).getDimSize(dim));
  int64_t start = 0;
  for (unsigned factor : factors) {
    int64_t size = rule.factors[factor].size;
    // Linked to the part, the class of the key head would contain the whole fused dim, and whatever needs the head size
    // whole would keep the queries from being split.
    if (isHead || !isOnlyKeyHead(value, dim, start, size))
      links[factor].dims.push_back(parts.dim);
    parts.sizes.push_back(size);
    parts.links.push_back(factor);
    start += size;
  }
  if (parts.sizes.size() > 1)
    graph.parts.push_back(std::move(parts));
}

/// The dim that has exactly these factors.
static std::optional<unsigned> dimOf(const TensorFactors &tensor, llvm::ArrayRef<unsigned> factors) {
  for (auto [index, dim] : llvm::enumerate(tensor.dims))
    if (llvm::ArrayRef<unsigned>(dim) == factors)
      return index;
  return std::nullopt;
}

/// True if all readers of the dim take single indices of it, also after it was permuted.
static bool isTakenApart(Value value, unsigned dim) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [dim](OpOperand &use) {
    auto call = dyn_cast<plan::CallOp>(use.getOwner());
    if (!call || call.getNumOperands() != 1)
      return false;
    CallView view = CallView::of(call);
    FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
    auto isIndex = [&](unsigned factor) { return rule.factors[factor].size == 1; };
    if (picksAlong(view, 0, dim) ||
        (rule.operands[0].isJoined(dim) && llvm::all_of(rule.operands[0].dims[dim], isIndex)))
      return true;
    std::optional<unsigned> moved = dimOf(rule.results[0], rule.operands[0].dims[dim]);
    return moved && isTakenApart(call.getResult(0), *moved);
  });
}

/// A dim whose major factor counts parts that are read one by one: it is split by the next factor, within each part.
bool GraphBuilder::addCounted(plan::CallOp call, Value value, unsigned dim, llvm::ArrayRef<unsigned> factors,
                              const FactorRule &rule, std::vector<DimLink> &links) {
  size_t major = rule.majorFactorIndex(factors), next = major + 1;
  if (call.getNumResults() != 1 || next >= factors.size() || rule.factors[factors[next]].size == 1)
    return false;
  std::optional<unsigned> counted = dimOf(rule.results[0], factors[major]);
  if (!counted || !isTakenApart(call.getResult(0), *counted))
    return false;
  size_t number = firstDim[value] + dim;
  int64_t count = rule.factors[factors[major]].size;
  graph.parts.push_back({number, std::vector<int64_t>(count, rule.sizeBelow(factors, major)), {}});
  links[factors[next]].dims.push_back(number);
  for (unsigned factor : factors.drop_front(next + 1))
    if (rule.factors[factor].size != 1)
      links[factor].kind = DimLink::Kind::whole;
  return true;
}

void GraphBuilder::addTensor(Value value, const TensorFactors &tensor, const FactorRule &rule,
                             std::vector<DimLink> &links, plan::CallOp reader) {
  for (auto [index, factors] : llvm::enumerate(tensor.dims)) {
    size_t dim = firstDim[value] + index;
    if (tensor.isJoined(index)) {
      addJoined(value, index, factors, rule, links);
      continue;
    }
    if (reader && addCounted(reader, value, index, factors, rule, links))
      continue;
    bool isMajor = true;
    for (unsigned factor : factors) {
      if (rule.factors[factor].size == 1)
        continue;
      if (isMajor)
        links[factor].dims.push_back(dim);
      else // split here, it would need the factor above split to single indices
        links[factor].kind = DimLink::Kind::whole;
      isMajor = false;
    }
  }
}

/// Moves the dims of the activation that a grouped convolution reads to the end of their links.
void GraphBuilder::markGroups(plan::CallOp call, const CallView &view, std::vector<DimLink> &links) {
  std::optional<ConvolutionForm> form = convolutionForm(view);
  if (!form || form->groups == 1)
    return;
  std::optional<unsigned> operand = view.getOperand("input");
  if (!operand)
    return;
  Value input = call.getOperand(*operand);
  size_t first = firstDim[input], end = first + cast<RankedTensorType>(input.getType()).getRank();
  auto isOther = [&](size_t dim) { return dim < first || dim >= end; };
  for (DimLink &link : links) {
    auto activation = std::stable_partition(link.dims.begin(), link.dims.end(), isOther);
    bool isOfGroups =
        activation != link.dims.begin() && activation != link.dims.end() &&
        llvm::any_of(link.dims, [&](size_t dim) { return dim == firstDim[call.getOperand(form->weight)]; });
    link.activations = isOfGroups ? link.dims.end() - activation : 0;
  }
}

void GraphBuilder::addCall(plan::CallOp call) {
  size_t index = graph.calls.size();
  callIndex[call] = index;
  for (const ExpertWeight &weight : weightsOfExperts(call))
    if (weight.dim == 0 && weight.size == 1)
      expertModules.try_emplace(weight.argument, call.getModule().value_or("").str());
  graph.calls.push_back({call.getTarget().str(), call.getModule().value_or("").str()});
  for (Value result : call.getResults())
    addValue(result);
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  std::vector<DimLink> links(rule.factors.size(), DimLink{DimLink::Kind::together, index, {}});
  // Parts name factors until the links of the call have numbers in the graph.
  size_t firstParts = graph.parts.size();
  for (auto [factor, link] : llvm::zip(rule.factors, links))
    if (factor.kind != FactorKind::parallel)
      link.kind = factor.kind == FactorKind::whole ? DimLink::Kind::whole : DimLink::Kind::reduced;
  for (auto [value, tensor] : llvm::zip(call.getOperands(), rule.operands))
    addTensor(value, tensor, rule, links, call);
  // If only results have a factor, the call can compute any shard of it without communication (DimLink::Kind::made).
  std::vector<bool> isRead;
  for (const DimLink &link : links)
    isRead.push_back(!link.dims.empty());
  for (auto [value, tensor] : llvm::zip(call.getResults(), rule.results))
    addTensor(value, tensor, rule, links);
  markGroups(call, view, links);
  std::vector<size_t> numbers; // indices of the links of the factors
  for (auto [link, read] : llvm::zip(links, isRead)) {
    if (link.kind == DimLink::Kind::whole && !read)
      link.kind = DimLink::Kind::made;
    numbers.push_back(graph.links.size());
    if (!link.dims.empty())
      graph.links.push_back(std::move(link));
  }
  for (size_t part = firstParts; part < graph.parts.size(); ++part)
    for (size_t &factor : graph.parts[part].links)
      factor = numbers[factor];
}

/// The first call that combines the value with another one, possibly after it is rearranged; else the first call that
/// reads it; the number of calls if there is none.
size_t GraphBuilder::firstCall(Value value) const {
  size_t first = graph.calls.size(), combining = first;
  for (Operation *user : value.getUsers()) {
    auto found = callIndex.find(user);
    if (found == callIndex.end())
      continue;
    first = std::min(first, found->second);
    // A view or conversion of a weight does not tell where the weight belongs in the order of the model.
    combining = std::min(combining, user->getNumOperands() == 1 ? firstCall(user->getResult(0)) : found->second);
  }
  return combining < graph.calls.size() ? combining : first;
}

/// True if the value depends on an input of the model.
bool GraphBuilder::comesFromInput(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t index = 0; index < values.size(); ++index) {
    if (auto argument = dyn_cast<BlockArgument>(values[index])) {
      if (plan::argumentKind(argument) == plan::ArgumentKind::input)
        return true;
      continue;
    }
    values.insert(values[index].getDefiningOp()->operand_begin(), values[index].getDefiningOp()->operand_end());
  }
  return false;
}

/// The module whose style divides the experts of a weight that `module` uses; nothing for other weights.
std::optional<std::string> GraphBuilder::expertsOf(BlockArgument argument, const std::string &module) const {
  auto computing = expertModules.find(argument);
  if (computing == expertModules.end())
    return std::nullopt;
  bool computesItself = computing->second == module || isInside(computing->second, module);
  return computesItself ? module : computing->second;
}

void GraphBuilder::addWeight(BlockArgument argument, const OutlineParameter &parameter, size_t index) {
  std::vector<WeightUse> uses;
  llvm::SetVector<size_t> modules;
  for (const OutlineParameterName &name : parameter.names)
    modules.insert(name.module);
  // A reader that contains the holder cannot be distinguished from the modules inside it, so it is not a use.
  auto isAround = [&](size_t module) {
    return llvm::any_of(parameter.names, [&](const OutlineParameterName &name) {
      return isInside(model.modules[name.module].path, model.modules[module].path);
    });
  };
  for (size_t reader : parameter.readers)
    if (!isAround(reader))
      modules.insert(reader);
  for (size_t module : modules) {
    WeightUse use;
    use.module = model.modules[module].path;
    use.name = parameterPath(model, parameter);
    use.expertsOf = expertsOf(argument, use.module);
    use.parameter = index;
    for (int64_t dim = 0; dim < cast<RankedTensorType>(argument.getType()).getRank(); ++dim)
      use.dims.push_back(firstDim[argument] + dim);
    // The holder may have no operators of its own: other modules read the weight.
    FeatureUse features = modules.size() == 1 ? search.find(argument, use.module) : search.findIn(argument, use.module);
    use.call = firstCall(argument);
    // Only a dim that is combined with an activation can be part of a pair.
    auto dimOf = [&](const std::optional<FeatureDim> &feature) {
      bool isDivided = feature && feature->meets && feature->isDivisible;
      return isDivided ? std::optional(use.dims[feature->dim]) : std::nullopt;
    };
    use.outputDim = dimOf(features.output);
    use.inputDim = dimOf(features.input);
    if (use.outputDim && use.inputDim && !features.activations.empty()) {
      const ActivationUse &activation = features.activations.front();
      use.call = callIndex.lookup(activation.operand->getOwner());
      use.role = activation.inputDim ? WeightUse::Role::linear : WeightUse::Role::embedding;
      use.looksUpInput = use.role == WeightUse::Role::embedding && comesFromInput(activation.operand->get());
    }
    uses.push_back(std::move(use));
  }
  // A tied parameter may have names in modules that only hold it.
  bool isUsed = llvm::any_of(uses, [](const WeightUse &use) { return use.role != WeightUse::Role::other; });
  for (WeightUse &use : uses)
    if (!isUsed || use.role != WeightUse::Role::other)
      graph.weights.push_back(std::move(use));
}

FeatureGraph GraphBuilder::build() {
  for (BlockArgument argument : function.getArguments()) {
    addValue(argument);
    if (plan::argumentKind(argument) == plan::ArgumentKind::input)
      addInput(argument);
  }
  for (Operation &op : function.getBody().front()) {
    if (auto call = dyn_cast<plan::CallOp>(op))
      addCall(call);
    else
      for (Value result : op.getResults())
        addValue(result);
  }
  for (auto [index, parameter] : llvm::enumerate(model.parameters))
    addWeight(function.getArgument(index), parameter, index);
  llvm::stable_sort(graph.weights,
                    [](const WeightUse &left, const WeightUse &right) { return left.call < right.call; });
  for (plan::CallOp route : routesOf(function)) {
    Mixture mixture{withoutIndices(holderOfExperts(route)), shapeOf(route.getResult(1)).front()};
    if (!llvm::is_contained(graph.mixtures, mixture))
      graph.mixtures.push_back(std::move(mixture));
  }
  for (Value output : function.getBody().front().getTerminator()->getOperands())
    for (int64_t dim = 0; dim < cast<RankedTensorType>(output.getType()).getRank(); ++dim)
      graph.outputDims.push_back(firstDim[output] + dim);
  return std::move(graph);
}

FeatureGraph meshplan::buildFeatureGraph(func::FuncOp function, const ModelOutline &model) {
  return GraphBuilder(function, model).build();
}
