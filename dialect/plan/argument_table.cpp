//===- argument_table.cpp - references to arguments by name ---------------===//
//
// Rules have labels (D) that reappear in test/dialect/plan/attributes.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"

#include <map>

using namespace mlir;
using namespace meshplan::plan;

/// The kind and the first name of an argument that has both.
static std::optional<std::pair<ArgumentKind, StringAttr>> keyOf(FunctionOpInterface function, unsigned index) {
  ArgumentKindAttr kind = argAttr<attr::Kind>(function, index);
  ArrayAttr names = argAttr<attr::Names>(function, index);
  if (!kind || !names || names.empty())
    return std::nullopt;
  return std::pair(kind.getValue(), cast<StringAttr>(names[0]));
}

ArgumentRefAttr meshplan::plan::referenceTo(FunctionOpInterface function, unsigned index) {
  auto key = keyOf(function, index);
  return key ? ArgumentRefAttr::get(function.getContext(), key->first, key->second) : ArgumentRefAttr();
}

ArgumentRefAttr meshplan::plan::referenceTo(BlockArgument argument) {
  return referenceTo(cast<FunctionOpInterface>(argument.getOwner()->getParentOp()), argument.getArgNumber());
}

ArgumentTable::ArgumentTable(FunctionOpInterface function) {
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    if (auto key = keyOf(function, index))
      arguments.try_emplace(*key, argument);
}

BlockArgument ArgumentTable::operator[](ArgumentRefAttr reference) const {
  return reference ? arguments.lookup({reference.getKind(), reference.getName()}) : BlockArgument();
}

BlockArgument ArgumentTable::parameterOf(BlockArgument argument) const {
  BlockArgument parameter = argument ? (*this)[argAttr<attr::Of>(argument)] : BlockArgument();
  return parameter ? parameter : argument;
}

namespace {
/// The names of the arguments of a function, and what refers to them.
class ReferenceVerifier {
public:
  explicit ReferenceVerifier(FunctionOpInterface function) : function(function) {}

  LogicalResult run();

private:
  LogicalResult addNames(unsigned index);
  LogicalResult addPosition(unsigned index);
  LogicalResult verifyResults();
  LogicalResult verify(Operation *op, NamedAttribute attribute);

  FunctionOpInterface function;
  /// Numbers of the arguments, by kind and each of their names.
  DenseMap<std::pair<ArgumentKind, StringAttr>, unsigned> numbers;
  /// Numbers of the arguments that lie in a storage.
  std::map<std::pair<StringRef, int64_t>, unsigned> positions;
};
} // namespace

/// D6: arguments of one kind have different names.
LogicalResult ReferenceVerifier::addNames(unsigned index) {
  ArgumentKindAttr kind = argAttr<attr::Kind>(function, index);
  ArrayAttr names = argAttr<attr::Names>(function, index);
  if (!kind || !names)
    return success();
  for (auto name : names.getAsRange<StringAttr>())
    if (auto [known, isNew] = numbers.try_emplace({kind.getValue(), name}, index); !isNew)
      return function.emitOpError() << "has arguments " << known->second << " and " << index << " of one name, "
                                    << ArgumentRefAttr::get(function.getContext(), kind.getValue(), name);
  return success();
}

/// D13: arguments of one storage have different positions.
LogicalResult ReferenceVerifier::addPosition(unsigned index) {
  StorageAttr storage = argAttr<attr::Storage>(function, index);
  if (!storage)
    return success();
  auto [known, isNew] = positions.try_emplace({storage.getName(), storage.getPosition()}, index);
  return isNew ? success()
               : function.emitOpError() << "has arguments " << known->second << " and " << index << " at position "
                                        << storage.getPosition() << " of storage \"" << storage.getName()
                                        << "\", must be one";
}

/// D12: a function has one loss, and an argument one new content.
LogicalResult ReferenceVerifier::verifyResults() {
  DenseMap<std::pair<StringAttr, Attribute>, unsigned> seen;
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    for (NamedAttribute each : function.getResultAttrs(index)) {
      bool isOne = each.getName() == attr::Loss::getNameStr() || each.getName() == attr::Updates::getNameStr();
      auto [known, isNew] = seen.try_emplace({each.getName(), each.getValue()}, index);
      if (isOne && !isNew)
        return function.emitOpError() << "has results " << known->second << " and " << index << " with '"
                                      << each.getName().getValue() << "' = " << each.getValue() << ", must be one";
    }
  return success();
}

/// D5: a reference is the kind and first name of an argument.
LogicalResult ReferenceVerifier::verify(Operation *op, NamedAttribute attribute) {
  auto reference = dyn_cast<ArgumentRefAttr>(attribute.getValue());
  if (!reference)
    return success();
  auto found = numbers.find({reference.getKind(), reference.getName()});
  // The first name only, so that all references to an argument are the same attribute and can be compared.
  if (found != numbers.end() && argAttr<attr::Names>(function, found->second)[0] == reference.getName())
    return success();
  return op->emitOpError() << "has '" << attribute.getName().getValue() << "' = " << reference
                           << ", which is the first name of no argument";
}

LogicalResult ReferenceVerifier::run() {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (failed(addNames(index)) || failed(addPosition(index)))
      return failure();
  if (failed(verifyResults()))
    return failure();
  for (ArrayAttr all : {function.getArgAttrsAttr(), function.getResAttrsAttr()})
    for (Attribute own : all ? all.getValue() : ArrayRef<Attribute>())
      for (NamedAttribute each : cast<DictionaryAttr>(own))
        if (failed(verify(function, each)))
          return failure();
  WalkResult calls = function.walk([&](CallOp call) {
    for (NamedAttribute each : call->getDiscardableAttrs())
      if (failed(verify(call, each)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(calls.wasInterrupted());
}

LogicalResult meshplan::plan::verifyReferences(FunctionOpInterface function) {
  return ReferenceVerifier(function).run();
}
