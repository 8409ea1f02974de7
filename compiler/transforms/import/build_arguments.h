//===- build_arguments.h - types and literals of the archive ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_ARGUMENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_ARGUMENTS_H

#include "compiler/archive/exported_program.h"
#include "dialect/plan/plan.h"

namespace meshplan {

/// The element type, or null for one that the IR does not have (complex, 8-bit floats).
mlir::Type elementType(archive::ScalarType type, mlir::MLIRContext *context);

/// The type of a tensor; null if the IR does not have the element type. Symbols must be bound (archive::bindSymbols).
mlir::RankedTensorType tensorType(const archive::Value &value, mlir::MLIRContext *context);

/// A tensor with a known value as an attribute of `type`. Copies the bytes.
mlir::ElementsAttr constantValue(const archive::ConstantData &data, mlir::RankedTensorType type);

/// Builds the arguments of one call: the dictionary, and the operands in the order of their indices.
class ArgumentBuilder {
public:
  ArgumentBuilder(llvm::ArrayRef<mlir::Value> values, mlir::MLIRContext *context) : values(values), context(context) {}

  /// Null if the IR cannot represent an argument (an unsupported dtype).
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
