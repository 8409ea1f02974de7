//===- syntax.cpp - text form of attributes and types of sched ------------===//

#include "dialect/base/layout_syntax.h"
#include "dialect/sched/sched.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

#define GET_ATTRDEF_CLASSES
#include "dialect/sched/attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/sched/types.cpp.inc"

void SchedDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/sched/attrs.cpp.inc"
      >();
}

void SchedDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/sched/types.cpp.inc"
      >();
}

/// axis ::= integer `:` `(` integer `)` integer
static FailureOr<AxisAttr> parseAxis(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  int64_t axis = 0, pre = 0, size = 0;
  if (parser.parseInteger(axis) || parser.parseColon() || parser.parseLParen() || parser.parseInteger(pre) ||
      parser.parseRParen() || parser.parseInteger(size))
    return failure();
  auto result = AxisAttr::getChecked([&] { return parser.emitError(start); }, parser.getContext(), axis, pre, size);
  return result ? FailureOr<AxisAttr>(result) : FailureOr<AxisAttr>(failure());
}

static void printAxis(AsmPrinter &printer, AxisAttr axis) {
  printer << axis.getAxis() << ":(" << axis.getPre() << ')' << axis.getSize();
}

/// dim ::= integer (`over` axes)? (`unit` integer)? (`parts` `[` parts `]`)? (`repeat` integer)?
static FailureOr<DimAttr> parseDim(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  int64_t extent = 0, unit = 1, repeat = 1;
  SmallVector<AxisAttr> axes;
  SmallVector<DimPart> parts;
  if (parser.parseInteger(extent) ||
      (succeeded(parser.parseOptionalKeyword("over")) && base::parseAxes(parser, axes, parseAxis)) ||
      (succeeded(parser.parseOptionalKeyword("unit")) && parser.parseInteger(unit)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("parts")) && parseParts(parser, parts))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("repeat")) && parser.parseInteger(repeat))
    return failure();
  auto dim = DimAttr::getChecked([&] { return parser.emitError(start); }, parser.getContext(), extent, axes, unit,
                                 parts, repeat);
  return dim ? FailureOr<DimAttr>(dim) : FailureOr<DimAttr>(failure());
}

static void printDim(AsmPrinter &printer, DimAttr dim) {
  printer << dim.getExtent();
  if (!dim.getAxes().empty()) {
    printer << " over ";
    base::printAxes(printer, dim.getAxes(), printAxis);
  }
  if (dim.getUnit() != 1)
    printer << " unit " << dim.getUnit();
  if (!dim.getParts().empty()) {
    printer << " parts ";
    printParts(printer, dim.getParts());
  }
  if (dim.getRepeat() != 1)
    printer << " repeat " << dim.getRepeat();
}

Attribute AxisAttr::parse(AsmParser &parser, Type) { return base::parseInAngles(parser, parseAxis); }
void AxisAttr::print(AsmPrinter &printer) const { base::printInAngles(printer, *this, printAxis); }

Attribute DimAttr::parse(AsmParser &parser, Type) { return base::parseInAngles(parser, parseDim); }
void DimAttr::print(AsmPrinter &printer) const { base::printInAngles(printer, *this, printDim); }

/// tensor ::= `<` `[` dims `]` `,` type (`,` `partial` `=` reduction axes)? (`,` `flat` `=` axes)?
///            (`,` `routed` `=` routed)? `>`
Type ShardedTensorType::parse(AsmParser &parser) {
  SmallVector<DimAttr> dims;
  SmallVector<AxisAttr> partial, flat;
  Type elementType;
  Reduction reduction = Reduction::none;
  base::RoutedAttr routed;
  SMLoc start = parser.getCurrentLocation();
  auto parseOneDim = [&] { return base::parseInto(parser, dims, parseDim); };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim) ||
      parser.parseComma() || parser.parseType(elementType))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("partial"))) {
    if (base::parsePartial(parser, start, reduction, partial, parseAxis))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && succeeded(parser.parseOptionalKeyword("flat"))) {
    if (parser.parseEqual() || base::parseAxes(parser, flat, parseAxis))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && (parser.parseKeyword("routed") || base::parseRouted(parser, routed)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), dims, elementType, reduction, partial,
                    flat, routed);
}

void ShardedTensorType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DimAttr dim) { printDim(printer, dim); });
  printer << "], " << getElementType();
  if (!getPartialAxes().empty()) {
    printer << ", partial = " << stringifyReduction(getReduction()) << ' ';
    base::printAxes(printer, getPartialAxes(), printAxis);
  }
  if (!getFlatAxes().empty()) {
    printer << ", flat = ";
    base::printAxes(printer, getFlatAxes(), printAxis);
  }
  if (getRouted())
    printer << ", routed = " << getRouted();
  printer << '>';
}
