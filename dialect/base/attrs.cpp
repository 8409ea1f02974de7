//===- attrs.cpp - what attributes of the base dialect may not be ---------===//
//
// Rules have labels (B) that reappear in test/dialect/base/attrs.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/base/base.h"
#include "runtime/schema/distribution.h"
#include "runtime/schema/loss_scale.h"
#include "runtime/schema/rate_schedule.h"
#include "runtime/schema/routed.h"

using namespace mlir;
using namespace meshplan::base;

using EmitError = function_ref<InFlightDiagnostic()>;

LogicalResult MeshAxisAttr::verify(EmitError emitError, StringRef name, int64_t size) {
  if (name.empty()) // B1
    return emitError() << "axis without a name";
  if (size < 1) // B1
    return emitError() << "axis \"" << name << "\" has size " << size << ", must be positive";
  return success();
}

LogicalResult OperandRefAttr::verify(EmitError emitError, int64_t index) {
  if (index < 0) // B2
    return emitError() << "operand " << index << ", must be 0 or more";
  return success();
}

LogicalResult LocalIntAttr::verify(EmitError emitError, int64_t, bool ofResult, int64_t index, int64_t dim, int64_t,
                                   int64_t, int64_t) {
  if (index < 0 || dim < 0) // B3
    return emitError() << "dim " << dim << " of " << (ofResult ? "result " : "operand ") << index
                       << ", both must be 0 or more";
  return success();
}

LogicalResult InstanceAttr::verify(EmitError emitError, FlatSymbolRefAttr program, int64_t microbatch) {
  if (program.getValue().empty()) // B11
    return emitError() << "microbatch " << microbatch << " of a program without a name";
  if (microbatch < 0) // B11
    return emitError() << "microbatch " << microbatch << " of " << program << ", must be 0 or more";
  return success();
}

LogicalResult RoutedAttr::verify(EmitError emitError, RoutedKind, int64_t dims, int64_t slots, FloatAttr reserve) {
  if (dims < 2) // B14
    return emitError() << "a routed value has " << dims << " dims of experts and tokens, must be at least 2";
  if (slots < 1) // B14
    return emitError() << "a token chooses " << slots << " experts, must be at least 1";
  if (reserve && !isReserve(numberOf(reserve))) // B18
    return emitError() << "reserve is " << numberOf(reserve) << ", must be a number of at least 1";
  return success();
}

LogicalResult meshplan::base::verifyRouted(EmitError emitError, RoutedAttr routed, ArrayRef<int64_t> shape,
                                           bool isFlat) {
  if (!routed)
    return success();
  bool isCounts = routed.getKind() == RoutedKind::counts;
  int64_t rank = shape.size();
  if (isCounts ? rank != routed.getDims() : rank < routed.getDims()) // B15
    return emitError() << "a routed value with " << routed.getDims() << " dims of experts and tokens has rank " << rank
                       << ", must be " << (isCounts ? "equal" : "at least as many");
  if (routed.getSlots() > shape.front()) // B16
    return emitError() << "a token chooses " << routed.getSlots() << " of " << shape.front() << " experts";
  if (isFlat) // B17
    return emitError() << "a routed value is flat: the number of its elements is not known before it is computed";
  return success();
}

std::vector<int64_t> meshplan::base::storedShape(RoutedAttr routed, int64_t experts, ArrayRef<int64_t> shard,
                                                 RowLoad load) {
  RoutedTokens tokens{routed.getDims(), routed.getSlots(), experts, numberOf(routed.getReserve())};
  return routedShape(routed.getKind() == RoutedKind::counts, tokens, shard, load);
}

int64_t meshplan::base::instancesIn(ArrayAttr timeline, StringRef program) {
  if (!timeline)
    return 0;
  return llvm::count_if(timeline.getAsRange<InstanceAttr>(),
                        [&](InstanceAttr instance) { return instance.getProgram().getValue() == program; });
}

LogicalResult InitAttr::verify(EmitError emitError, InitKind kind, FloatAttr value, FloatAttr low, FloatAttr high,
                               FloatAttr mean, FloatAttr std, ElementsAttr elements) {
  bool isBounded = hasBounds(kind), isNormal = hasDeviation(kind);
  auto check = [&](Attribute attribute, bool isWanted, StringRef name) -> LogicalResult {
    if (static_cast<bool>(attribute) == isWanted)
      return success();
    return emitError() << "'" << stringifyInitKind(kind) << "' " << (isWanted ? "needs" : "has no") << " '" << name
                       << "'";
  };
  if (failed(check(value, kind == InitKind::constant, "value")) || failed(check(low, isBounded, "low")) || // B4
      failed(check(high, isBounded, "high")) || failed(check(mean, isNormal, "mean")) ||
      failed(check(std, isNormal, "std")) || failed(check(elements, kind == InitKind::given, "elements")))
    return failure();
  switch (distributionFault(
      {numberOf(value), numberOf(low), numberOf(high), numberOf(mean), numberOf(std), isBounded, isNormal})) { // B5
  case DistributionFault::number:
    for (FloatAttr number : {value, low, high, mean, std})
      if (!isDrawable(numberOf(number)))
        return emitError() << "a number of '" << stringifyInitKind(kind) << "' is " << numberOf(number)
                           << ", must fit into f32";
    break;
  case DistributionFault::deviation:
    return emitError() << "std is " << numberOf(std) << ", must be above 0";
  case DistributionFault::bounds:
    return emitError() << "low is " << numberOf(low) << " and high is " << numberOf(high) << ", must be above low";
  case DistributionFault::unreachable:
    return emitError() << "low is " << numberOf(low) << " and high is " << numberOf(high)
                       << ", must include numbers within " << mostDeviations << " std of the mean";
  case DistributionFault::none:
    break;
  }
  return success();
}

LogicalResult PiecesAttr::verify(EmitError emitError, ArrayAttr before, ArrayAttr after, DenseI64ArrayAttr sizes,
                                 int64_t dim, int64_t count) {
  auto isText = [](Attribute text) { return isa<StringAttr>(text); };
  if (!llvm::all_of(before, isText) || !llvm::all_of(after, isText)) // B19
    return emitError() << "'before' and 'after' must be lists of strings";
  if (sizes.empty() || before.size() != after.size() || static_cast<int64_t>(before.size()) != sizes.size()) // B19
    return emitError() << "'before', 'after' and 'sizes' have " << before.size() << ", " << after.size() << " and "
                       << sizes.size() << " elements, must have equally many";
  if (dim < 0 || count < 0 || llvm::any_of(sizes.asArrayRef(), [](int64_t size) { return size < 0; })) // B19
    return emitError() << "dim " << dim << ", count " << count << " and sizes must be 0 or more";
  return success();
}

PiecesAttr PiecesAttr::get(MLIRContext *context, const meshplan::WeightPieces &pieces) {
  Builder builder(context);
  auto strings = [&](const std::vector<std::string> &texts) {
    return builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(texts));
  };
  return get(context, strings(pieces.before), strings(pieces.after), builder.getDenseI64ArrayAttr(pieces.sizes),
             pieces.dim, pieces.count);
}

meshplan::WeightPieces PiecesAttr::asPieces() const {
  auto texts = [](ArrayAttr list) {
    std::vector<std::string> result;
    for (auto text : list.getAsRange<StringAttr>())
      result.push_back(text.str());
    return result;
  };
  return {texts(getBefore()), texts(getAfter()), getSizes().asArrayRef().vec(), getDim(), getCount()};
}

LogicalResult RateScheduleAttr::verify(EmitError emitError, RateKind kind, int64_t warmup, int64_t steps, int64_t decay,
                                       FloatAttr min) {
  if (warmup < 0 || steps < 0 || decay < 0) // B6
    return emitError() << "warmup " << warmup << ", steps " << steps << " and decay " << decay
                       << " must all be 0 or more";
  bool ends = kind != RateKind::constant;
  if ((!ends && steps != 0) || (kind != RateKind::wsd && decay != 0)) // B12
    return emitError() << "'" << stringifyRateKind(kind) << "' has steps " << steps << " and decay " << decay
                       << ", must have " << (ends ? "no decay" : "neither");
  if (!ends && numberOf(min) != 0) // B12
    return emitError() << "'constant' has min " << numberOf(min) << ", must have none";
  if (ends && steps == 0) // B7
    return emitError() << "'" << stringifyRateKind(kind) << "' needs the number of steps";
  if (kind == RateKind::wsd && decay == 0) // B7
    return emitError() << "'wsd' needs the number of steps of the decay";
  if (ends && !isWithinSteps(warmup, decay, steps)) // B9
    return emitError() << "warmup " << warmup << " and decay " << decay << " take more than steps " << steps;
  if (min && !isRateMinimum(numberOf(min))) // B10
    return emitError() << "min is " << numberOf(min) << ", must be from 0 to 1";
  return success();
}

LogicalResult GuardAttr::verify(EmitError emitError, bool, FloatAttr growth, FloatAttr backoff, int64_t interval) {
  return verifyLossScale(emitError, growth, backoff, interval);
}

LogicalResult meshplan::base::verifyLossScale(EmitError emitError, FloatAttr growth, FloatAttr backoff,
                                              int64_t interval) {
  // Half of them would be a scale that grows and never falls, or the reverse.
  bool isWhole = interval > 0 ? growth && backoff : interval == 0 && !growth && !backoff;
  if (!isWhole) // B8
    return emitError() << "a loss scale that changes has growth, backoff and a positive interval, and this one has "
                       << (growth ? "growth, " : "no growth, ") << (backoff ? "backoff" : "no backoff")
                       << " and interval " << interval;
  if (interval != 0 && !canChangeScale(numberOf(growth), numberOf(backoff))) // B13
    return emitError() << "growth is " << numberOf(growth) << " and backoff " << numberOf(backoff)
                       << ", must be at least 1 and between 0 and 1";
  return success();
}

//===----------------------------------------------------------------------===//
// Text form of LocalIntAttr
//===----------------------------------------------------------------------===//

/// local ::= `<` integer `,` (`result` | `operand`) integer `,` `dim` integer (`,` `offset` integer)?
///           (`,` `extent` integer)? (`,` `microbatch` integer)? `>`
Attribute LocalIntAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  int64_t constant = 0, index = 0, dim = 0;
  if (parser.parseLess() || parser.parseInteger(constant) || parser.parseComma())
    return {};
  bool ofResult = succeeded(parser.parseOptionalKeyword("result"));
  if ((!ofResult && parser.parseKeyword("operand")) || parser.parseInteger(index) || parser.parseComma() ||
      parser.parseKeyword("dim") || parser.parseInteger(dim))
    return {};
  static constexpr StringLiteral names[] = {"offset", "extent", "microbatch"};
  int64_t scales[] = {0, 0, 0};
  bool more = succeeded(parser.parseOptionalComma());
  for (auto [name, scale] : llvm::zip_equal(names, scales))
    if (more && succeeded(parser.parseOptionalKeyword(name))) {
      if (parser.parseInteger(scale))
        return {};
      more = succeeded(parser.parseOptionalComma());
    }
  if (more) {
    parser.emitError(parser.getCurrentLocation(),
                     "expected 'offset', 'extent' or 'microbatch', once each and in this order");
    return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), constant, ofResult, index, dim,
                    scales[0], scales[1], scales[2]);
}

void LocalIntAttr::print(AsmPrinter &printer) const {
  printer << '<' << getConstant() << ", " << (getOfResult() ? "result " : "operand ") << getIndex() << ", dim "
          << getDim();
  if (getOffsetScale())
    printer << ", offset " << getOffsetScale();
  if (getExtentScale())
    printer << ", extent " << getExtentScale();
  if (getMicrobatchScale())
    printer << ", microbatch " << getMicrobatchScale();
  printer << '>';
}
