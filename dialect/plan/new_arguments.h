//===- new_arguments.h - arguments that passes add --------------*- C++ -*-===//
//
// MLIR keeps every function type and every list of attributes that it was ever
// asked for. Of a function with thousands of arguments that are added one by
// one it would keep thousands of lists of all of them. ArgumentAdder writes them
// once.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_NEW_ARGUMENTS_H
#define MESHPLAN_DIALECT_PLAN_NEW_ARGUMENTS_H

#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace meshplan::plan {

/// The argument of `function` for the setting `name`. If there is none, adds one after all other arguments: type f64,
/// rank 0, with the default `value` and the `schedule` for runs that supply no other. `isPlaced`: types of arguments
/// have shardings already.
mlir::BlockArgument settingArgument(mlir::FunctionOpInterface function, llvm::StringRef name, double value,
                                    bool isPlaced, mlir::Location location, base::RateScheduleAttr schedule = {});

/// Adds many arguments after all others. Between `add` and `write` only the types of the new ones may be asked for, and
/// nothing else may add or erase arguments.
class ArgumentAdder {
public:
  explicit ArgumentAdder(mlir::FunctionOpInterface function) : function(function) {}

  mlir::BlockArgument add(mlir::Type type, llvm::ArrayRef<mlir::NamedAttribute> attributes, mlir::Location location);

  /// Writes the type of the function and the attributes of its arguments. Does nothing if none has been added.
  void write();

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::DictionaryAttr> added; ///< attributes of the new arguments
};

/// Removes the attributes of these names from all arguments.
void removeArgumentAttributes(mlir::FunctionOpInterface function, llvm::ArrayRef<llvm::StringRef> names);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_NEW_ARGUMENTS_H
