//===- build_arguments.h - types and literals of the archive as IR -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_ARGUMENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_ARGUMENTS_H

#include "compiler/archive/exported_program.h"
#include "dialect/plan/plan.h"

namespace meshplan {

/// The element type, or null for one that the IR does not have (complex, 8-bit floats).
mlir::Type elementType(archive::ScalarType type, mlir::MLIRContext *context);

/// The type of a tensor; null if the element type is not known. Symbols have been bound (archive::bindSymbols).
mlir::RankedTensorType tensorType(const archive::Value &value, mlir::MLIRContext *context);

/// A tensor of known value as an attribute of `type`. The bytes are copied.
mlir::ElementsAttr constantValue(const archive::ConstantData &data, mlir::RankedTensorType type);

/// Builds the arguments of one call: the dictionary, and the operands in the order of their numbers.
class ArgumentBuilder {
public:
  ArgumentBuilder(llvm::ArrayRef<mlir::Value> values, mlir::MLIRContext *context) : values(values), context(context) {}

  /// Null if the IR cannot hold an argument (a dtype that it does not have).
  mlir::DictionaryAttr build(const archive::Node &node);

  llvm::ArrayRef<mlir::Value> operands() const { return operandValues; }

private:
  mlir::Attribute convert(const archive::Argument &argument);
  mlir::Attribute convertValue(archive::ValueId id);

  llvm::ArrayRef<mlir::Value> values;
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::Value> operandValues;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_ARGUMENTS_H
