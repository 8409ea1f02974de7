//===- layout_syntax.h - text of axes and layouts ---------------*- C++ -*-===//
//
// The attributes of a layout have one form in both dialects: a list of axes in
// braces, a reduction with its axes, and the text of one attribute in angle
// brackets. The dialects differ in how they write an axis: `Parse` and `Print`
// read and write one.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_LAYOUT_SYNTAX_H
#define MESHPLAN_DIALECT_BASE_LAYOUT_SYNTAX_H

#include "dialect/base/base.h"

namespace meshplan::base {

/// Appends what `parse` reads.
template <typename Attr, typename Parse>
mlir::ParseResult parseInto(mlir::AsmParser &parser, llvm::SmallVectorImpl<Attr> &list, Parse parse) {
  mlir::FailureOr<Attr> attribute = parse(parser);
  if (succeeded(attribute))
    list.push_back(*attribute);
  return mlir::success(succeeded(attribute));
}

/// axes ::= `{` axis (`,` axis)* `}`
template <typename Axis, typename Parse>
mlir::ParseResult parseAxes(mlir::AsmParser &parser, llvm::SmallVectorImpl<Axis> &axes, Parse parseAxis) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Braces,
                                        [&] { return parseInto(parser, axes, parseAxis); });
}

template <typename Axis, typename Print>
void printAxes(mlir::AsmPrinter &printer, llvm::ArrayRef<Axis> axes, Print printAxis) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](Axis axis) { printAxis(printer, axis); });
  printer << '}';
}

/// `=` reduction axes, after the keyword `partial`. An unknown reduction is reported at `start`.
template <typename Axis, typename Parse>
mlir::ParseResult parsePartial(mlir::AsmParser &parser, llvm::SMLoc start, Reduction &reduction,
                               llvm::SmallVectorImpl<Axis> &axes, Parse parseAxis) {
  llvm::StringRef name;
  if (parser.parseEqual() || parser.parseKeyword(&name) || parseAxes(parser, axes, parseAxis))
    return mlir::failure();
  std::optional<Reduction> parsed = symbolizeReduction(name);
  if (!parsed)
    return parser.emitError(start, "unknown reduction '") << name << "', expected sum, max or min";
  reduction = *parsed;
  return mlir::success();
}

/// `=` the attribute, after the keyword `routed`.
inline mlir::ParseResult parseRouted(mlir::AsmParser &parser, RoutedAttr &routed) {
  return mlir::failure(parser.parseEqual() || parser.parseAttribute(routed));
}

/// `<` what `parse` reads `>`; null after an error.
template <typename Parse> mlir::Attribute parseInAngles(mlir::AsmParser &parser, Parse parse) {
  if (parser.parseLess())
    return {};
  auto attribute = parse(parser);
  if (failed(attribute) || parser.parseGreater())
    return {};
  return *attribute;
}

template <typename Attr, typename Print> void printInAngles(mlir::AsmPrinter &printer, Attr attribute, Print print) {
  printer << '<';
  print(printer, attribute);
  printer << '>';
}

} // namespace meshplan::base

#endif // MESHPLAN_DIALECT_BASE_LAYOUT_SYNTAX_H
