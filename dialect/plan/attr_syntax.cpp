//===- attr_syntax.cpp - text form of the attributes of the plan dialect --===//

#include "dialect/base/layout_syntax.h"
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
    return base::parseInto(parser, axes, parseAxis);
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

Attribute AxisRefAttr::parse(AsmParser &parser, Type) { return base::parseInAngles(parser, parseAxis); }
void AxisRefAttr::print(AsmPrinter &printer) const { base::printInAngles(printer, *this, printAxis); }

Attribute DimShardingAttr::parse(AsmParser &parser, Type) { return base::parseInAngles(parser, parseDim); }
void DimShardingAttr::print(AsmPrinter &printer) const { base::printInAngles(printer, *this, printDim); }

/// sharding ::= `<` `[` dims `]` (`,` `partial` `=` reduction axes)? (`,` `replicated` `=` axes)?
///              (`,` `flat` `=` axes)? (`,` `routed` `=` routed)? `>`
Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimShardingAttr> dims;
  SmallVector<AxisRefAttr> partial, replicated, flat;
  Reduction reduction = Reduction::none;
  base::RoutedAttr routed;
  auto parseOneDim = [&] { return base::parseInto(parser, dims, parseDim); };
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("partial"))) {
    if (base::parsePartial(parser, start, reduction, partial, parseAxis))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && succeeded(parser.parseOptionalKeyword("replicated"))) {
    if (parser.parseEqual() || base::parseAxes(parser, replicated, parseAxis))
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
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), dims, reduction, partial, replicated,
                    flat, routed);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) { printDim(printer, dim); });
  printer << ']';
  if (isPartial()) {
    printer << ", partial = " << stringifyReduction(getReduction()) << ' ';
    base::printAxes(printer, getPartialAxes(), printAxis);
  }
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated = ";
    base::printAxes(printer, getReplicatedAxes(), printAxis);
  }
  if (isFlat()) {
    printer << ", flat = ";
    base::printAxes(printer, getFlatAxes(), printAxis);
  }
  if (getRouted())
    printer << ", routed = " << getRouted();
  printer << '>';
}
