//===- syntax.cpp - text form of attributes and types of sched ------------===//

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

static ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<AxisAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    FailureOr<AxisAttr> axis = parseAxis(parser);
    if (succeeded(axis))
      axes.push_back(*axis);
    return success(succeeded(axis));
  });
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisAttr> axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](AxisAttr axis) { printAxis(printer, axis); });
  printer << '}';
}

/// dim ::= integer (`over` axes)? (`unit` integer)? (`parts` `[` parts `]`)? (`repeat` integer)?
static FailureOr<DimAttr> parseDim(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  int64_t extent = 0, unit = 1, repeat = 1;
  SmallVector<AxisAttr> axes;
  SmallVector<DimPart> parts;
  if (parser.parseInteger(extent) || (succeeded(parser.parseOptionalKeyword("over")) && parseAxes(parser, axes)) ||
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
    printAxes(printer, dim.getAxes());
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

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxis(printer, *this);
  printer << '>';
}

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimAttr> dim = parseDim(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDim(printer, *this);
  printer << '>';
}

/// tensor ::= `<` `[` dims `]` `,` type (`,` `partial` `=` reduction axes)? (`,` `flat` `=` axes)? `>`
Type ShardedTensorType::parse(AsmParser &parser) {
  SmallVector<DimAttr> dims;
  SmallVector<AxisAttr> partial, flat;
  Type elementType;
  Reduction reduction = Reduction::none;
  SMLoc start = parser.getCurrentLocation();
  auto parseOneDim = [&]() -> ParseResult {
    FailureOr<DimAttr> dim = parseDim(parser);
    if (succeeded(dim))
      dims.push_back(*dim);
    return success(succeeded(dim));
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim) ||
      parser.parseComma() || parser.parseType(elementType))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("partial"))) {
    StringRef name;
    if (parser.parseEqual() || parser.parseKeyword(&name) || parseAxes(parser, partial))
      return {};
    std::optional<Reduction> parsed = symbolizeReduction(name);
    if (!parsed)
      return parser.emitError(start, "unknown reduction '") << name << "', expected sum, max or min", Type();
    reduction = *parsed;
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && (parser.parseKeyword("flat") || parser.parseEqual() || parseAxes(parser, flat)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), dims, elementType, reduction, partial,
                    flat);
}

void ShardedTensorType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DimAttr dim) { printDim(printer, dim); });
  printer << "], " << getElementType();
  if (!getPartialAxes().empty()) {
    printer << ", partial = " << stringifyReduction(getReduction()) << ' ';
    printAxes(printer, getPartialAxes());
  }
  if (!getFlatAxes().empty()) {
    printer << ", flat = ";
    printAxes(printer, getFlatAxes());
  }
  printer << '>';
}
