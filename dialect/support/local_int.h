//===- local_int.h - text of integers that depend on the rank ---*- C++ -*-===//
//
// The dialects plan and sched each have such an attribute, with the same
// fields. `Local` is either of the two.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_SUPPORT_LOCAL_INT_H
#define MESHPLAN_DIALECT_SUPPORT_LOCAL_INT_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

namespace meshplan {

/// local ::= `<` integer `,` (`result` | `operand`) integer `,` `dim` integer (`,` `offset` integer)?
///           (`,` `extent` integer)? (`,` `microbatch` integer)? `>`
template <typename Local> Local parseLocalInt(mlir::AsmParser &parser) {
  int64_t constant = 0, index = 0, dim = 0;
  if (parser.parseLess() || parser.parseInteger(constant) || parser.parseComma())
    return {};
  bool ofResult = mlir::succeeded(parser.parseOptionalKeyword("result"));
  if ((!ofResult && parser.parseKeyword("operand")) || parser.parseInteger(index) || parser.parseComma() ||
      parser.parseKeyword("dim") || parser.parseInteger(dim))
    return {};
  static constexpr llvm::StringLiteral names[] = {"offset", "extent", "microbatch"};
  int64_t scales[] = {0, 0, 0};
  bool more = mlir::succeeded(parser.parseOptionalComma());
  for (auto [name, scale] : llvm::zip_equal(names, scales))
    if (more && mlir::succeeded(parser.parseOptionalKeyword(name))) {
      if (parser.parseInteger(scale))
        return {};
      more = mlir::succeeded(parser.parseOptionalComma());
    }
  if (more) {
    parser.emitError(parser.getCurrentLocation(),
                     "expected 'offset', 'extent' or 'microbatch', once each and in this order");
    return {};
  }
  if (parser.parseGreater())
    return {};
  return Local::get(parser.getContext(), constant, ofResult, index, dim, scales[0], scales[1], scales[2]);
}

template <typename Local> void printLocalInt(mlir::AsmPrinter &printer, Local local) {
  printer << '<' << local.getConstant() << ", " << (local.getOfResult() ? "result " : "operand ") << local.getIndex()
          << ", dim " << local.getDim();
  if (local.getOffsetScale())
    printer << ", offset " << local.getOffsetScale();
  if (local.getExtentScale())
    printer << ", extent " << local.getExtentScale();
  if (local.getMicrobatchScale())
    printer << ", microbatch " << local.getMicrobatchScale();
  printer << '>';
}

} // namespace meshplan

#endif // MESHPLAN_DIALECT_SUPPORT_LOCAL_INT_H
