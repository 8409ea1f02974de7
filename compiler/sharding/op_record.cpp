//===- op_record.cpp - the records of all operators -----------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

const OpRegistry &OpRegistry::get() {
  static const OpRegistry registry = [] {
    OpRegistry all;
    addElementwiseRecords(all);
    addConversionRecords(all);
    addContractionRecords(all);
    addVectorRecords(all);
    addMatrixRecords(all);
    addSimilarityRecords(all);
    addConvolutionRecords(all);
    addPoolingRecords(all);
    addUpsamplingRecords(all);
    addReshapeRecords(all);
    addDimOrderRecords(all);
    addMovementRecords(all);
    addSlicingRecords(all);
    addJoiningRecords(all);
    addReductionRecords(all);
    addNormalizationRecords(all);
    addRecurrentRecords(all);
    addIndexingRecords(all);
    addPartRecords(all);
    addScatterRecords(all);
    addCreationRecords(all);
    addRandomRecords(all);
    addAttentionRecords(all);
    addExpertRecords(all);
    addLossRecords(all);
    addElementGradientRecords(all);
    addContractionGradientRecords(all);
    addAttentionGradientRecords(all);
    addRowGradientRecords(all);
    addConvolutionGradientRecords(all);
    addOptimizerRecords(all);
    return all;
  }();
  return registry;
}

const OpRecord *OpRegistry::lookup(StringRef target) const {
  // All derivatives at run time share one record, which reads that of the operator that they differentiate.
  if (StringRef forward = target; forward.consume_front("vjp."))
    return records.contains(forward) ? &runtimeDerivativeRecord() : nullptr;
  auto found = records.find(target);
  return found == records.end() ? nullptr : &found->second;
}

SmallVector<StringRef> OpRegistry::targets() const {
  SmallVector<StringRef> names(records.keys());
  llvm::sort(names);
  return names;
}

void OpRegistry::add(OpRecord record) {
  [[maybe_unused]] bool added = records.try_emplace(record.target, record).second;
  assert(added && "an operator has one record");
}

FactorRule factorRuleOf(const CallView &call, const OpRecord *record) {
  if (record) {
    FactorRule rule = record->rule(call);
    // An archive is not verified against the schemas of its operators. A rule that does not fit the tensors of the call
    // is dropped; keeping all dims whole is right for every operator.
    if (!rule.findFault(call.operands, call.results))
      return rule;
  }
  return RuleBuilder(call).finish();
}

bool picksAlong(const CallView &call, unsigned operand, unsigned dim) {
  const OpRecord *record = OpRegistry::get().lookup(call.target);
  if (!record || !record->linearity || !record->linearity(call).movesElements)
    return false;
  int64_t count = call.operands[operand].getNumElements();
  // Only results that are all smaller than the operand leave elements out; a flip also moves elements and needs dims
  // whole.
  if (llvm::any_of(call.results, [&](RankedTensorType result) { return result.getNumElements() >= count; }))
    return false;
  FactorRule rule = factorRuleOf(call, record);
  llvm::ArrayRef<unsigned> factors = rule.operands[operand].dims[dim];
  return !factors.empty() &&
         llvm::all_of(factors, [&](unsigned factor) { return rule.factors[factor].kind == FactorKind::whole; });
}

bool hasCost(StringRef target) {
  const OpRecord *record = OpRegistry::get().lookup(target);
  return record && record->cost;
}

OpCost costOf(const CallView &call, const OpRecord *record) {
  if (record && record->cost)
    return record->cost(call);
  return {};
}

Strides stridesOf(const CallView &call, const OpRecord *record, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  Strides strides = record && record->strides ? record->strides(call, result) : contiguousStrides(shape);
  // The result type does not fit the operands: an archive may contain anything.
  return strides.size() == shape.size() ? strides : contiguousStrides(shape);
}

} // namespace meshplan
