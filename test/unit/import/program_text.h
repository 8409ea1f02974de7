//===- program_text.h - functions of plan calls from text -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_IMPORT_PROGRAM_TEXT_H
#define MESHPLAN_TEST_UNIT_IMPORT_PROGRAM_TEXT_H

#include "test/unit/dialect/plan_text.h"

namespace meshplan {

/// A fixture that reads one function. A line of a body is `result = target(operands) {args} : type`, where operands
/// have their types: `1 = aten.neg.default(x: 4xf32) {self = #base.operand<0>} : 4xf32`; `=` args are optional.
class ProgramText : public PlanText {
protected:
  /// Reads a function with these arguments ("x: 4xf32 {plan.kind = #plan.kind<parameter>}", separated by ";").
  void read(llvm::StringRef arguments, llvm::ArrayRef<std::string> lines) {
    std::string text = "func.func @f(";
    llvm::SmallVector<llvm::StringRef> parts;
    arguments.split(parts, ';', -1, false);
    for (llvm::StringRef part : parts) {
      auto [name, rest] = part.trim().split(':');
      auto [shape, attributes] = rest.trim().split(' ');
      text += (text.back() == '(' ? "" : ", ") + ("%" + name + ": tensor<" + shape + "> " + attributes).str();
    }
    text += ") {\n";
    for (const std::string &line : lines)
      text += lineText(line) + "\n";
    readModule(text + "return\n}");
  }

  /// The result of the last op before the return.
  mlir::Value last() { return function().getBody().front().getTerminator()->getPrevNode()->getResult(0); }

private:
  static std::string lineText(llvm::StringRef line) {
    auto [result, right] = line.split(" = ");
    auto [target, rest] = right.split('(');
    auto [operands, tail] = rest.split(')');
    auto [args, type] = tail.rsplit(" : ");
    std::string names, types;
    llvm::SmallVector<llvm::StringRef> parts;
    operands.split(parts, ',', -1, false);
    for (llvm::StringRef part : parts) {
      auto [name, shape] = part.trim().split(": ");
      names += (names.empty() ? "%" : ", %") + name.str();
      types += (types.empty() ? "tensor<" : ", tensor<") + shape.str() + ">";
    }
    llvm::StringRef literals = args.trim();
    return ("%" + result.trim() + " = plan.call \"" + target + "\"(" + names + ") " +
            (literals.empty() ? "{}" : literals) + " : (" + types + ") -> tensor<" + type.trim() + ">")
        .str();
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_IMPORT_PROGRAM_TEXT_H
