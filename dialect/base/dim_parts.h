//===- dim_parts.h - parts of a dim in attributes ---------------*- C++ -*-===//
//
// Both dialects have attributes with the parts of a divided dim (extent.h).
// Their text form and their rules are here.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_DIM_PARTS_H
#define MESHPLAN_DIALECT_BASE_DIM_PARTS_H

#include "mlir/IR/OpImplementation.h"
#include "runtime/schema/extent.h"

namespace meshplan {

// NOLINTNEXTLINE(readability-identifier-naming): LLVM's hashing finds it by this name
inline llvm::hash_code hash_value(const DimPart &part) {
  return llvm::hash_combine(part.extent, part.unit, part.repeat);
}

/// `[` (integer (`unit` integer)? (`repeat` integer)?) (`,` ...)* `]`
inline mlir::ParseResult parseParts(mlir::AsmParser &parser, llvm::SmallVectorImpl<DimPart> &parts) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&]() -> mlir::ParseResult {
    DimPart &part = parts.emplace_back();
    if (parser.parseInteger(part.extent) ||
        (succeeded(parser.parseOptionalKeyword("unit")) && parser.parseInteger(part.unit)) ||
        (succeeded(parser.parseOptionalKeyword("repeat")) && parser.parseInteger(part.repeat)))
      return mlir::failure();
    return mlir::success();
  });
}

inline void printParts(mlir::AsmPrinter &printer, llvm::ArrayRef<DimPart> parts) {
  printer << '[';
  llvm::interleaveComma(parts, printer, [&](const DimPart &part) {
    printer << part.extent;
    if (part.unit != 1)
      printer << " unit " << part.unit;
    if (part.repeat != 1)
      printer << " repeat " << part.repeat;
  });
  printer << ']';
}

/// Checks that each part is a whole number of blocks, that blocks repeat at least once, and that a dim with parts has
/// no block size of its own besides those of the parts.
inline mlir::LogicalResult verifyParts(llvm::ArrayRef<DimPart> parts, int64_t unit, int64_t repeat,
                                       llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  if (!parts.empty() && (unit != 1 || repeat != 1))
    return emitError() << "a dim in parts must not have a block size of its own";
  for (const DimPart &part : parts) {
    if (part.extent < 1)
      return emitError() << "part is " << part.extent << ", must be positive";
    if (part.unit < 1 || part.extent % part.unit != 0)
      return emitError() << "part of size " << part.extent << " is not a multiple of its block size " << part.unit;
    if (part.repeat < 1)
      return emitError() << "blocks of a part repeat " << part.repeat << " times, must be positive";
  }
  return mlir::success();
}

} // namespace meshplan

#endif // MESHPLAN_DIALECT_BASE_DIM_PARTS_H
