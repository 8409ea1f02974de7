//===- storages.cpp - arguments that share a storage ----------------------===//

#include "compiler/sharding/storage/storages.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/attributes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static int64_t positionOf(BlockArgument argument) { return argAttr<attr::Storage>(argument).getPosition(); }

void meshplan::putInStorage(BlockArgument argument, StringRef name, int64_t position, bool isRegistered) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  setArgAttr<attr::Storage>(function, argument.getArgNumber(),
                            StorageAttr::get(function.getContext(), name, position, isRegistered));
}

SmallVector<Storage> meshplan::storagesOf(func::FuncOp function) {
  llvm::MapVector<StringRef, Storage> storages;
  for (BlockArgument argument : function.getArguments()) {
    StorageAttr attribute = argAttr<attr::Storage>(argument);
    if (!attribute)
      continue;
    Storage &storage = storages[attribute.getName()];
    storage.name = attribute.getName().str();
    storage.arguments.push_back(argument);
    storage.isRegistered |= attribute.getRegistered();
  }
  SmallVector<Storage> list;
  for (auto &[name, storage] : storages) {
    llvm::stable_sort(storage.arguments,
                      [](BlockArgument left, BlockArgument right) { return positionOf(left) < positionOf(right); });
    list.push_back(std::move(storage));
  }
  return list;
}

Value meshplan::targetOf(Operation *op) {
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return gather.getTarget();
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return scatter.getTarget();
  auto reduce = dyn_cast<AllReduceOp>(op);
  return reduce ? reduce.getTarget() : Value();
}

/// The operand that the call or collective which defines `value` has overwritten in place by it, or null.
static Value changedInto(Value value) {
  Operation *op = value.getDefiningOp();
  auto call = dyn_cast_or_null<CallOp>(op);
  if (!call)
    return op ? targetOf(op) : Value();
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (!record || index >= record->overwrites.size())
    return {};
  return call.getOperand(*CallView::of(call).getOperand(record->overwrites[index]));
}

Value meshplan::locationOf(Value value) {
  while (Value before = changedInto(value))
    value = before;
  return value;
}

StorageMap::StorageMap(func::FuncOp function) {
  for (auto [number, storage] : llvm::enumerate(storagesOf(function)))
    for (BlockArgument argument : storage.arguments)
      positions[argument] = {number, positionOf(argument)};
}

bool StorageMap::areAdjacent(ValueRange values) const {
  if (values.size() == 1)
    return true;
  // Values that were overwritten in place count as the argument whose memory they use.
  std::optional<std::pair<size_t, int64_t>> next;
  for (Value value : values) {
    auto found = positions.find(locationOf(value));
    if (found == positions.end() || (next && found->second != *next))
      return false;
    // The next value must follow in the same storage.
    next = {found->second.first, found->second.second + 1};
  }
  return next.has_value();
}
