//===- splits.cpp - what may be split into parts --------------------------===//
//
// Dividing an operation into parts by rows is like dividing it over ranks, with time instead of a mesh axis: the factor
// of an operator that the rows belong to must be parallel (compiler/sharding/factor_rule.h). Operands that have the
// factor are read by part, others whole.
//
// Example: rows of x [8, 12] over two parts, for a row-parallel product and the sum of its result.
//
//   %y = aten.linear(%x, %w)        %y = [8, 6], of which part 0 has rows 0 to 3 and reads those of %x and all of %w
//   %z = all_reduce %y [tp]         part 0 is summed while part 1 is computed
//
// A collective is looked at together with what is next to it: upward the pointwise operators and products that only it
// depends on, downward the products that read its result.

#include "compiler/transforms/schedule/choices/splits.h"
#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/transforms/schedule/layout_table.h"
#include "compiler/transforms/schedule/operation_costs.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/reshard_steps.h"
#include <map>
#include <set>

using namespace mlir;
using meshplan::scheduling::SplitMember;
using meshplan::scheduling::Splittable;

namespace meshplan {

/// The factor that a dim consists of, if it can be divided part by part.
static std::optional<unsigned> factorOfRows(const FactorRule &rule, const TensorFactors &tensor, unsigned dim) {
  if (dim >= tensor.dims.size() || tensor.dims[dim].size() != 1 || tensor.isJoined(dim) || tensor.sharers(dim) != 1)
    return std::nullopt;
  unsigned factor = tensor.dims[dim].front();
  const Factor &rows = rule.factors[factor];
  bool isDivisible = rows.kind == FactorKind::parallel && rows.unit == 1 && !rows.isCounted;
  return isDivisible ? std::optional(factor) : std::nullopt;
}

/// The dim of a tensor that is this factor alone. Fails if the factor is a part of a dim.
static FailureOr<std::optional<unsigned>> dimOfRows(const FactorRule &rule, const TensorFactors &tensor,
                                                    unsigned factor) {
  std::optional<unsigned> found;
  for (auto [dim, factors] : llvm::enumerate(tensor.dims)) {
    if (!llvm::is_contained(factors, factor))
      continue;
    if (factorOfRows(rule, tensor, dim) != factor)
      return failure();
    found = dim;
  }
  return found;
}

/// True if an argument is an integer that depends on the shard.
static bool dependsOnShard(Attribute argument) {
  if (auto list = dyn_cast<ArrayAttr>(argument))
    return llvm::any_of(list, dependsOnShard);
  return isa<plan::LocalIntAttr>(argument);
}

namespace {
/// Operations that are divided together, with their dims of rows, in the order of the problem.
using Region = std::map<unsigned, RowDims>;

class Splits {
public:
  Splits(func::FuncOp function, ProjectedFunction &projection, const Cluster &cluster, LayoutTable &layouts)
      : projection(projection), problem(projection.problem), layouts(layouts), costs(cluster, layouts),
        parts(function) {
    for (auto [index, ops] : llvm::enumerate(projection.operations))
      operationsOf[ops.front()].push_back(index);
  }

  void find(int64_t mostParts);

private:
  bool isCandidate(unsigned index) const;
  std::optional<unsigned> rowsOf(Operation *collective) const;
  bool isContiguous(Value value, unsigned dim) const;
  bool isRowMajor(Value value) const;
  bool addCollective(Operation *collective, Region &region) const;
  bool addProducers(Value value, unsigned dim, Region &region) const;
  void addReaders(Value value, unsigned dim, Region &region) const;
  std::optional<RowDims> rowDimsOf(plan::CallOp call, std::optional<unsigned> operand, unsigned dim) const;
  bool isProduct(plan::CallOp call) const;
  bool readsRowsAlike(const Region &region) const;
  bool divides(const Region &region, unsigned count) const;
  bool isDivisible(Value value, unsigned dim, unsigned count) const;
  bool isReadOutside(Value value, const Region &region) const;
  bool isMadeInside(Value value, const Region &region) const;
  void add(const Region &region, unsigned count);
  SplitMember memberOf(unsigned index, const RowDims &dims, unsigned count, const Region &region);

  ProjectedFunction &projection;
  scheduling::Problem &problem;
  LayoutTable &layouts;
  OperationCosts costs;
  StepParts parts;
  /// The operations of the problem that an op became: more than one for a collective with copies.
  DenseMap<Operation *, SmallVector<unsigned, 3>> operationsOf;
};
} // namespace

/// Collectives of activations that are alone, and whose start nothing prescribes.
bool Splits::isCandidate(unsigned index) const {
  const scheduling::Operation &operation = problem.operations[index];
  ArrayRef<Operation *> ops = projection.operations[index];
  if (!operation.isCollective() || operation.blocking || operation.prefetch || !operation.overwritten.empty() ||
      ops.size() != 1 || plan::opAttr<plan::attr::Mergeable>(ops.front()))
    return false;
  std::optional<base::CollectiveKind> kind = plan::collectiveKindOf(ops.front());
  bool hasRows = kind == base::CollectiveKind::all_reduce || kind == base::CollectiveKind::all_gather ||
                 kind == base::CollectiveKind::reduce_scatter;
  return hasRows && parts.purposeOf(ops.front()) == base::Purpose::activations;
}

/// The first dim with several elements on a rank, unless the collective moves it.
std::optional<unsigned> Splits::rowsOf(Operation *collective) const {
  IntegerAttr moved = plan::stepDim(collective);
  auto type = cast<RankedTensorType>(collective->getOperand(0).getType());
  for (unsigned dim = 0; dim + 1 < type.getRank(); ++dim) {
    if (moved && moved.getInt() == dim)
      return std::nullopt;
    if (!isContiguous(collective->getOperand(0), dim) || !isContiguous(collective->getResult(0), dim))
      return std::nullopt;
    if (llvm::any_of(layouts.get(type).local, [&](RankedTensorType local) { return local.getDimSize(dim) > 1; }))
      return dim;
  }
  return std::nullopt;
}

/// True if equal ranges of a dim are contiguous in memory on every rank: no dim before it has several elements.
bool Splits::isContiguous(Value value, unsigned dim) const {
  return llvm::all_of(layouts.get(value.getType()).local, [&](RankedTensorType local) {
    return llvm::all_of(local.getShape().take_front(dim), [](int64_t extent) { return extent == 1; });
  });
}

/// True if a value is row-major on every rank, as what joins its parts makes it.
bool Splits::isRowMajor(Value value) const {
  for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass) {
    Strides strides = stridesOnRank(value, rankClass, layouts, projection.strides);
    if (!StridedShape{layouts.get(value.getType()).local[rankClass].getShape(), strides}.isContiguous())
      return false;
  }
  return true;
}

bool Splits::isDivisible(Value value, unsigned dim, unsigned count) const {
  auto whole = cast<RankedTensorType>(value.getType());
  if (whole.getDimSize(dim) % count != 0)
    return false;
  // Blocks are not cut, and rows that are routed to experts do not have the dims of their tokens.
  if (plan::ShardingAttr sharding = plan::getSharding(value)) {
    plan::DimShardingAttr own = sharding.getDims()[dim];
    if (sharding.getRouted() || own.getUnit() != 1 || !own.getParts().empty() || own.getRepeat() != 1)
      return false;
  }
  // A layout is valid until another one is asked for.
  SmallVector<RankedTensorType, 2> locals = layouts.get(whole).local,
                                   ofPart = layouts.get(partType(whole, dim, count)).local;
  return llvm::all_of(llvm::zip_equal(locals, ofPart), [&](auto pair) {
    auto [local, part] = pair;
    return local.getDimSize(dim) == part.getDimSize(dim) * count &&
           local.getDimSize(dim) == locals.front().getDimSize(dim);
  });
}

bool Splits::isProduct(plan::CallOp call) const {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  if (!record || !record->cost)
    return false;
  return record->cost(viewOnRank(call, 0, layouts, projection.strides)).product.has_value();
}

/// How a call is divided by rows, which are `dim` of an operand or, without one, of the result.
std::optional<RowDims> Splits::rowDimsOf(plan::CallOp call, std::optional<unsigned> operand, unsigned dim) const {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  auto found = operationsOf.find(call);
  if (!record || found == operationsOf.end() || call.getNumResults() != 1 || !record->overwrites.empty() ||
      record->sumsElements ||
      llvm::any_of(call.getArgs(), [](NamedAttribute each) { return dependsOnShard(each.getValue()); }))
    return std::nullopt;
  if (problem.buffers[problem.operations[found->second.front()].produced.front()].viewOf)
    return std::nullopt;
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, record);
  std::optional<unsigned> factor = factorOfRows(rule, operand ? rule.operands[*operand] : rule.results[0], dim);
  if (!factor)
    return std::nullopt;
  RowDims dims;
  FailureOr<std::optional<unsigned>> ofResult = dimOfRows(rule, rule.results[0], *factor);
  if (failed(ofResult) || !*ofResult || !isContiguous(call.getResult(0), **ofResult) || !isRowMajor(call.getResult(0)))
    return std::nullopt;
  dims.result = **ofResult;
  for (auto [value, tensor] : llvm::zip_equal(call.getOperands(), rule.operands)) {
    FailureOr<std::optional<unsigned>> rows = dimOfRows(rule, tensor, *factor);
    if (failed(rows) || (*rows && !isContiguous(value, **rows)))
      return std::nullopt;
    dims.operands.push_back(*rows);
  }
  return dims;
}

/// Adds a collective and its copies.
bool Splits::addCollective(Operation *collective, Region &region) const {
  std::optional<unsigned> rows = rowsOf(collective);
  if (!rows)
    return false;
  for (unsigned index : operationsOf.lookup(collective))
    region[index] = {*rows, {*rows}};
  return true;
}

/// Adds what makes a value that only the region reads. True if a product was found.
bool Splits::addProducers(Value value, unsigned dim, Region &region) const {
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || isReadOutside(value, region))
    return false;
  bool product = isProduct(call);
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  std::optional<RowDims> dims;
  if (product || (record && record->isPointwise))
    dims = rowDimsOf(call, std::nullopt, dim);
  if (!dims)
    return false;
  Region with = region;
  with[operationsOf.lookup(call).front()] = *dims;
  bool found = product;
  for (auto [operand, rows] : llvm::zip_equal(call.getOperands(), dims->operands))
    if (!product && rows)
      found |= addProducers(operand, *rows, with);
  if (found)
    region = std::move(with);
  return found;
}

/// Adds the products that read a value.
void Splits::addReaders(Value value, unsigned dim, Region &region) const {
  for (OpOperand &use : value.getUses())
    if (auto call = dyn_cast<plan::CallOp>(use.getOwner()); call && isProduct(call))
      if (std::optional<RowDims> dims = rowDimsOf(call, use.getOperandNumber(), dim))
        region[operationsOf.lookup(call).front()] = *dims;
}

bool Splits::isReadOutside(Value value, const Region &region) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto found = operationsOf.find(user);
    return found == operationsOf.end() || !region.contains(found->second.front());
  });
}

bool Splits::isMadeInside(Value value, const Region &region) const {
  auto found = operationsOf.find(value.getDefiningOp());
  return found != operationsOf.end() && region.contains(found->second.front());
}

/// True if no operation reads a value of the region in other parts than it is made in, or one value in two ways.
bool Splits::readsRowsAlike(const Region &region) const {
  for (const auto &[index, dims] : region) {
    Operation *op = projection.operations[index].front();
    DenseMap<Value, std::optional<unsigned>> rowsOfValue;
    for (auto [operand, rows] : llvm::zip(op->getOperands(), dims.operands)) {
      if (rowsOfValue.try_emplace(operand, rows).first->second != rows)
        return false;
      if (isMadeInside(operand, region) &&
          rows != region.at(operationsOf.lookup(operand.getDefiningOp()).front()).result)
        return false;
    }
  }
  return true;
}

/// True if all tensors that are read or made by part have equal parts.
bool Splits::divides(const Region &region, unsigned count) const {
  return llvm::all_of(region, [&](const auto &each) {
    const auto &[index, dims] = each;
    Operation *op = projection.operations[index].front();
    for (auto [operand, rows] : llvm::zip(op->getOperands(), dims.operands))
      if (rows && !isDivisible(operand, *rows, count))
        return false;
    return isDivisible(op->getResult(0), dims.result, count);
  });
}

SplitMember Splits::memberOf(unsigned index, const RowDims &dims, unsigned count, const Region &region) {
  const scheduling::Operation &operation = problem.operations[index];
  Operation *op = projection.operations[index].front();
  bool packs = operation.copy == scheduling::Copy::pack;
  Value made = packs ? op->getOperand(0) : op->getResult(0);
  Part part{std::nullopt, count, dims};
  SplitMember member;
  member.operation = index;
  for (auto [buffer, rows] : llvm::zip(operation.consumed, dims.operands))
    if (Value read = projection.buffers[buffer]; rows && read && !isMadeInside(read, region))
      member.rows.push_back(buffer);
  member.bytes = layouts.get(partType(made.getType(), dims.result, count)).bytes;
  for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass) {
    if (operation.copy != scheduling::Copy::none) {
      member.duration = std::max(member.duration, costs.timeOfCopy(member.bytes[rankClass]));
    } else if (auto call = dyn_cast<plan::CallOp>(op)) {
      CallCost cost = costs.costOf(call, viewOnRank(call, rankClass, layouts, projection.strides, &part));
      member.duration = std::max(member.duration, cost.duration);
      member.workspace.push_back(cost.workspaceBytes);
    }
  }
  // Small shapes may be attained at a better rate, which is not what parts are for.
  if (!problem.isAsynchronous(operation))
    member.duration = std::max(member.duration, (operation.duration + count - 1) / count);
  if (operation.isCollective()) {
    scheduling::Operation ofPart = operation;
    costs.setCollective(ofPart, *plan::collectiveKindOf(op), sentBytesOf(op) / count, problem.communicators);
    member.latency = ofPart.latency;
    member.transfers = ofPart.transfers;
  }
  if (projection.buffers[operation.produced.front()] && isReadOutside(made, region))
    member.joinTime = costs.timeOfCopy(*llvm::max_element(layouts.get(made.getType()).bytes));
  return member;
}

void Splits::add(const Region &region, unsigned count) {
  Splittable splittable;
  std::vector<RowDims> rowDims;
  for (const auto &[index, dims] : region) {
    splittable.members.push_back(memberOf(index, dims, count, region));
    rowDims.push_back(dims);
    if (problem.operations[index].isCollective())
      splittable.name = (problem.operations[index].name + " in " + Twine(count) + " parts").str();
  }
  splittable.parts = count;
  problem.splittables.push_back(std::move(splittable));
  projection.rowDims.push_back(std::move(rowDims));
}

void Splits::find(int64_t mostParts) {
  std::set<unsigned> counts = {static_cast<unsigned>(mostParts)};
  for (unsigned count = 2; count < mostParts; count *= 2)
    counts.insert(count);
  for (unsigned index = 0; index < problem.operations.size(); ++index) {
    if (!isCandidate(index))
      continue;
    Operation *collective = projection.operations[index].front();
    Region region;
    if (!addCollective(collective, region))
      continue;
    size_t copies = region.size();
    unsigned rows = region.begin()->second.result;
    addProducers(collective->getOperand(0), rows, region);
    addReaders(collective->getResult(0), rows, region);
    if (region.size() == copies || !readsRowsAlike(region))
      continue;
    for (unsigned count : counts)
      if (divides(region, count))
        add(region, count);
  }
}

void addSplittables(func::FuncOp function, ProjectedFunction &projection, int64_t mostParts, const Cluster &cluster,
                    LayoutTable &layouts) {
  Splits(function, projection, cluster, layouts).find(mostParts);
}

} // namespace meshplan
