//===- attr_syntax.cpp - text form of the attributes of the plan dialect --===//

#include "dialect/plan/plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/attrs.cpp.inc"

void PlanDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/plan/attrs.cpp.inc"
      >();
}

/// axis ::= string (`:` `(` integer `)` integer)?
static FailureOr<AxisRefAttr> parseAxis(AsmParser &parser) {
  std::string name;
  int64_t pre = 0, size = 0;
  if (parser.parseString(&name))
    return failure();
  if (succeeded(parser.parseOptionalColon()) &&
      (parser.parseLParen() || parser.parseInteger(pre) || parser.parseRParen() || parser.parseInteger(size)))
    return failure();
  auto axis = AxisRefAttr::getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), name,
                                      pre, size);
  return axis ? FailureOr<AxisRefAttr>(axis) : FailureOr<AxisRefAttr>(failure());
}

static void printAxis(AsmPrinter &printer, AxisRefAttr axis) {
  printer << '"' << axis.getName() << '"';
  if (!axis.isWhole())
    printer << ":(" << axis.getPre() << ')' << axis.getSize();
}

/// dim ::= `{` ((axis | `?` | `unit` integer | `parts` `[` parts `]` | `repeat` integer) (`,` ...)*)? `}`
static FailureOr<DimShardingAttr> parseDim(AsmParser &parser) {
  SmallVector<AxisRefAttr> axes;
  SmallVector<DimPart> parts;
  int64_t unit = 1, repeat = 1;
  bool open = false;
  auto parseItem = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion()))
      return open = true, success();
    if (succeeded(parser.parseOptionalKeyword("unit")))
      return parser.parseInteger(unit);
    if (succeeded(parser.parseOptionalKeyword("parts")))
      return parseParts(parser, parts);
    if (succeeded(parser.parseOptionalKeyword("repeat")))
      return parser.parseInteger(repeat);
    FailureOr<AxisRefAttr> axis = parseAxis(parser);
    if (succeeded(axis))
      axes.push_back(*axis);
    return success(succeeded(axis));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseItem))
    return failure();
  // Checked here and not by get, which would end the program: the text may come from a user of meshplan-opt.
  auto dim = DimShardingAttr::getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(),
                                         axes, open, unit, parts, repeat);
  return dim ? FailureOr<DimShardingAttr>(dim) : FailureOr<DimShardingAttr>(failure());
}

static void printDim(AsmPrinter &printer, DimShardingAttr dim) {
  printer << '{';
  StringRef separator = "";
  auto item = [&]() -> AsmPrinter & {
    printer << separator;
    separator = ", ";
    return printer;
  };
  for (AxisRefAttr axis : dim.getAxes())
    printAxis(item(), axis);
  if (dim.getUnit() != 1)
    item() << "unit " << dim.getUnit();
  if (!dim.getParts().empty())
    printParts(item() << "parts ", dim.getParts());
  if (dim.getRepeat() != 1)
    item() << "repeat " << dim.getRepeat();
  if (dim.getOpen())
    item() << '?';
  printer << '}';
}

static ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    FailureOr<AxisRefAttr> axis = parseAxis(parser);
    if (succeeded(axis))
      axes.push_back(*axis);
    return success(succeeded(axis));
  });
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](AxisRefAttr axis) { printAxis(printer, axis); });
  printer << '}';
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisRefAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxis(printer, *this);
  printer << '>';
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimShardingAttr> dim = parseDim(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDim(printer, *this);
  printer << '>';
}

/// sharding ::= `<` `[` dims `]` (`,` `partial` `=` reduction axes)? (`,` `replicated` `=` axes)?
///              (`,` `flat` `=` axes)? `>`
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimShardingAttr> dims;
  SmallVector<AxisRefAttr> partial, replicated, flat;
  Reduction reduction = Reduction::none;
  auto parseOneDim = [&]() -> ParseResult {
    FailureOr<DimShardingAttr> dim = parseDim(parser);
    if (succeeded(dim))
      dims.push_back(*dim);
    return success(succeeded(dim));
  };
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("partial"))) {
    StringRef name;
    if (parser.parseEqual() || parser.parseKeyword(&name) || parseAxes(parser, partial))
      return {};
    std::optional<Reduction> parsed = symbolizeReduction(name);
    if (!parsed)
      return parser.emitError(start, "unknown reduction '") << name << "', expected sum, max or min", Attribute();
    reduction = *parsed;
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && succeeded(parser.parseOptionalKeyword("replicated"))) {
    if (parser.parseEqual() || parseAxes(parser, replicated))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && (parser.parseKeyword("flat") || parser.parseEqual() || parseAxes(parser, flat)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), dims, reduction, partial, replicated,
                    flat);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) { printDim(printer, dim); });
  printer << ']';
  if (isPartial()) {
    printer << ", partial = " << stringifyReduction(getReduction()) << ' ';
    printAxes(printer, getPartialAxes());
  }
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated = ";
    printAxes(printer, getReplicatedAxes());
  }
  if (isFlat()) {
    printer << ", flat = ";
    printAxes(printer, getFlatAxes());
  }
  printer << '>';
}
