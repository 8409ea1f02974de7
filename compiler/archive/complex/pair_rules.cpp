//===- pair_rules.cpp - operators of complex numbers on pairs ----*- C++ -*-===//
//
// run() picks the rule of an operator by its name. A rule reads the operands as
// pairs, writes real nodes and gives the pair, or the real tensor, of the
// result. A part that is zero everywhere (noValue) is never computed: the
// product of a complex and a real tensor takes two real products, not four.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/complex/pair_rules.h"
#include "compiler/archive/complex/pair_arithmetic.h"
#include "compiler/archive/simplify_graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace meshplan::archive {

//===----------------------------------------------------------------------===//
// Reading the node
//===----------------------------------------------------------------------===//

ValueId PairRules::operandId(llvm::StringRef argument) const {
  const Argument *value = node->find(argument);
  const ValueId *id = value ? std::get_if<ValueId>(value) : nullptr;
  return id ? *id : noValue;
}

Pair PairRules::pairOf(ValueId id) {
  auto known = pairs.find(id);
  Pair pair = known == pairs.end() ? Pair{realValue(id), noValue} : known->second;
  return {writer.converted(pair.real, parts), writer.converted(pair.imag, parts)};
}

std::optional<Pair> PairRules::operand(llvm::StringRef argument) {
  ValueId id = operandId(argument);
  return id == noValue ? std::nullopt : std::optional(pairOf(id));
}

std::optional<std::complex<double>> PairRules::complexScalar(llvm::StringRef argument) const {
  const Argument *value = node->find(argument);
  const auto *scalar = value ? std::get_if<std::complex<double>>(value) : nullptr;
  return scalar ? std::optional(*scalar) : std::nullopt;
}

bool PairRules::isRealScalar(llvm::StringRef argument) const {
  const Argument *value = node->find(argument);
  return value && (std::holds_alternative<double>(*value) || std::holds_alternative<SymbolicInt>(*value) ||
                   std::holds_alternative<SymbolicScalar>(*value) || std::holds_alternative<bool>(*value));
}

ValueId PairRules::shapeOf(ValueId id) const {
  auto known = pairs.find(id);
  if (known == pairs.end())
    return realValue(id);
  return known->second.real == noValue ? known->second.imag : known->second.real;
}

bool PairRules::give(Pair result) {
  pairs[node->results.front()] = result;
  return true;
}

bool PairRules::give(ValueId real) {
  reals[node->results.front()] = real;
  return true;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// Operators that move elements, or that are linear over the reals: they are applied to each part separately.
static bool isLinear(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"view", "reshape", "_unsafe_view", "view_as", "reshape_as", "flatten", "unflatten", "_reshape_alias"},
             true)
      .Cases({"unsqueeze", "squeeze", "transpose", "t", "permute", "movedim", "moveaxis", "swapaxes", "swapdims"}, true)
      .Cases({"mT", "numpy_T", "expand", "expand_as", "broadcast_to", "broadcast_tensors", "repeat", "tile"}, true)
      .Cases({"repeat_interleave", "slice", "narrow", "select", "index", "index_select", "gather", "take_along_dim"},
             true)
      .Cases({"diagonal", "roll", "flip", "rot90", "tril", "triu", "unfold", "pad", "constant_pad_nd"}, true)
      .Cases({"stack", "cat", "concat", "concatenate", "hstack", "vstack", "split", "split_with_sizes"}, true)
      .Cases({"chunk", "tensor_split", "unbind", "where", "clone", "contiguous", "detach", "neg", "positive"}, true)
      .Cases({"sum", "mean", "cumsum"}, true)
      .Default(false);
}

PairRules::Rule PairRules::ruleOf(llvm::StringRef operation) const {
  if (isConversion(node->target))
    return &PairRules::convert;
  if (isLinear(operation))
    return &PairRules::copyParts;
  return llvm::StringSwitch<Rule>(operation)
      .Cases({"alias", "lift", "lift_fresh", "lift_fresh_copy", "resolve_conj", "resolve_neg"}, &PairRules::alias)
      .Cases({"zeros_like", "ones_like", "zeros", "ones", "new_zeros", "new_ones"}, &PairRules::fill)
      .Case("complex", &PairRules::makeComplex)
      .Case("polar", &PairRules::makePolar)
      .Cases({"view_as_complex", "view_as_complex_copy"}, &PairRules::viewAsComplex)
      .Cases({"view_as_real", "view_as_real_copy"}, &PairRules::viewAsReal)
      .Case("real", &PairRules::realPart)
      .Case("imag", &PairRules::imagPart)
      .Cases({"conj", "_conj", "_conj_copy", "conj_physical", "_conj_physical"}, &PairRules::conjugate)
      .Case("add", &PairRules::add)
      .Case("sub", &PairRules::subtract)
      .Case("rsub", &PairRules::subtractFrom)
      .Case("mul", &PairRules::multiply)
      .Cases({"matmul", "mm", "bmm", "mv", "outer", "einsum"}, &PairRules::multiplyTensors)
      .Case("div", &PairRules::divide)
      .Case("reciprocal", &PairRules::invert)
      .Case("square", &PairRules::square)
      .Case("pow", &PairRules::power)
      .Case("exp", &PairRules::exponential)
      .Case("abs", &PairRules::absolute)
      .Case("angle", &PairRules::angle)
      .Cases({"eq", "ne"}, &PairRules::compare)
      .Default(nullptr);
}

bool PairRules::run(const Node &next) {
  if (next.results.empty() || next.results.front() == noValue)
    return false;
  node = &next;
  name = llvm::StringRef(next.target).split('.').second.split('.').first;
  Rule rule = llvm::StringRef(next.target).starts_with("aten.") ? ruleOf(name) : nullptr;
  const Value &result = program.value(next.results.front());
  dims = result.dims;
  // Where the result is real or a truth value (abs, eq), the type of the parts is that of the complex operand.
  type = parts = partType(result.type);
  for (ValueId id : program.operands(next))
    if (isComplex(program.value(id).type) && !isComplex(result.type))
      parts = partType(program.value(id).type);
  writer.begin(next);
  return rule && (this->*rule)();
}

//===----------------------------------------------------------------------===//
// Part by part
//===----------------------------------------------------------------------===//

/// Tensors that select elements or give a shape, and contribute no values to the result.
static bool isBesideNumbers(llvm::StringRef name, llvm::StringRef argument) {
  bool givesShape = argument == "other" && name.ends_with("_as");
  return givesShape || llvm::is_contained({"index", "indices", "condition", "repeats"}, argument);
}

std::optional<std::vector<ValueId>> PairRules::partOf(ValueId Pair::*part) {
  std::vector<NamedArgument> arguments = node->arguments;
  auto forNumbers = [&](auto visit) {
    for (NamedArgument &argument : arguments)
      if (!isBesideNumbers(name, argument.name))
        visitValues(argument.value, visit);
  };
  bool isThere = false;
  forNumbers([&](ValueId id) {
    auto known = pairs.find(id);
    isThere |= known == pairs.end() ? part == &Pair::real : known->second.*part != noValue;
  });
  if (!isThere)
    return std::nullopt;
  for (NamedArgument &argument : arguments)
    // A condition or a shape is the same for both parts and must not be split itself.
    if (isBesideNumbers(name, argument.name))
      visitValues(argument.value, [&](ValueId &id) { id = shapeOf(id); });
  forNumbers([&](ValueId &id) { id = part == &Pair::real ? writer.realOf(pairOf(id)) : writer.imagOf(pairOf(id)); });
  return writer.repeat(*node, std::move(arguments));
}

bool PairRules::copyParts() {
  // A real fill value fills the real part only.
  bool isFilled = ((name == "pad" || name == "constant_pad_nd") && isRealScalar("value")) ||
                  (name == "where" && node->target != "aten.where.self");
  if (isFilled)
    return false;
  if (!isComplex(program.value(node->results.front()).type) || complexScalar("self") || complexScalar("other"))
    return false;
  std::optional<std::vector<ValueId>> real = partOf(&Pair::real), imag = partOf(&Pair::imag);
  for (auto [index, result] : llvm::enumerate(node->results))
    if (result != noValue)
      pairs[result] = {real ? (*real)[index] : noValue, imag ? (*imag)[index] : noValue};
  return true;
}

bool PairRules::fill() {
  // The operands only give a shape.
  std::vector<NamedArgument> arguments = node->arguments;
  for (NamedArgument &argument : arguments)
    visitValues(argument.value, [&](ValueId &id) { id = shapeOf(id); });
  ValueId real = writer.repeat(*node, std::move(arguments)).front();
  return isComplex(program.value(node->results.front()).type) ? give(Pair{real, noValue}) : give(real);
}

bool PairRules::convert() {
  std::optional<Pair> self = operand("self");
  if (!self)
    return false;
  if (isComplex(program.value(node->results.front()).type))
    return give(*self);
  return give(writer.converted(writer.realOf(*self), type));
}

bool PairRules::alias() {
  std::optional<Pair> self = operand("self");
  return self && give(*self);
}

//===----------------------------------------------------------------------===//
// To and from pairs
//===----------------------------------------------------------------------===//

bool PairRules::makeComplex() {
  ValueId real = operandId("real"), imag = operandId("imag");
  return real != noValue && imag != noValue &&
         give(Pair{writer.expanded(realValue(real), dims), writer.expanded(realValue(imag), dims)});
}

bool PairRules::makePolar() {
  ValueId radius = operandId("abs"), angle = operandId("angle");
  if (radius == noValue || angle == noValue)
    return false;
  radius = writer.named(realValue(radius), parts);
  angle = writer.named(realValue(angle), parts);
  ValueId cosine = writer.unary("aten.cos.default", angle), sine = writer.unary("aten.sin.default", angle);
  return give(Pair{writer.binary("aten.mul.Tensor", radius, cosine, dims),
                   writer.binary("aten.mul.Tensor", radius, sine, dims)});
}

bool PairRules::viewAsComplex() {
  ValueId self = operandId("self");
  if (self == noValue)
    return false;
  ValueId numbers = writer.named(realValue(self), parts);
  return give(Pair{writer.selected(numbers, 0, dims), writer.selected(numbers, 1, dims)});
}

bool PairRules::viewAsReal() {
  std::optional<Pair> self = operand("self");
  if (!self)
    return false;
  std::vector<ValueId> both{writer.realOf(*self), writer.imagOf(*self)};
  return give(writer.write(
      "aten.stack.default",
      {{"tensors", Argument(both)}, {"dim", Argument(std::in_place_type<SymbolicInt>, int64_t(dims.size()) - 1)}}, dims,
      type));
}

bool PairRules::realPart() {
  std::optional<Pair> self = operand("self");
  return self && give(writer.realOf(*self));
}

bool PairRules::imagPart() {
  std::optional<Pair> self = operand("self");
  return self && give(writer.imagOf(*self));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

bool PairRules::conjugate() {
  std::optional<Pair> self = operand("self");
  return self && give(Pair{self->real, writer.negated(self->imag)});
}

std::optional<double> PairRules::factorOfOther() const {
  const Argument *alpha = node->find("alpha");
  if (!alpha)
    return 1;
  if (const double *number = std::get_if<double>(alpha))
    return *number;
  const SymbolicInt *integer = std::get_if<SymbolicInt>(alpha);
  return integer && !integer->isSymbolic() ? std::optional<double>(integer->value) : std::nullopt;
}

bool PairRules::addOrSubtract(bool subtracts) {
  std::optional<Pair> self = operand("self"), other = operand("other");
  std::optional<double> alpha = factorOfOther();
  if (!self || !alpha)
    return false;
  if (!other)
    return addScalar(*self);
  double factor = subtracts ? -*alpha : *alpha;
  auto added = [&](ValueId part) { return factor == -1 ? writer.negated(part) : writer.scaled(part, factor); };
  return give(sumOf(writer, *self, {added(other->real), added(other->imag)}, dims));
}

bool PairRules::addScalar(const Pair &self) {
  auto shifted = [&](ValueId part, Argument number) {
    return writer.write(node->target, {tensorArgument("self", part), {"other", std::move(number)}}, dims, parts);
  };
  if (node->find("alpha"))
    return false;
  if (isRealScalar("other"))
    return give(Pair{shifted(writer.realOf(self), *node->find("other")), self.imag});
  std::optional<std::complex<double>> number = complexScalar("other");
  return number && give(Pair{shifted(writer.realOf(self), Argument(number->real())),
                             shifted(writer.imagOf(self), Argument(number->imag()))});
}

/// `other - self`.
bool PairRules::subtractFrom() {
  std::optional<Pair> self = operand("self");
  if (!self || node->find("alpha"))
    return false;
  Pair negative{writer.negated(self->real), writer.negated(self->imag)};
  if (std::optional<Pair> other = operand("other"))
    return give(sumOf(writer, *other, negative, dims));
  if (!isRealScalar("other"))
    return false;
  std::vector<NamedArgument> arguments{tensorArgument("self", writer.realOf(*self)), {"other", *node->find("other")}};
  return give(Pair{writer.write(node->target, std::move(arguments), dims, parts), negative.imag});
}

bool PairRules::multiply() {
  if (std::optional<std::complex<double>> factor = complexScalar("other")) {
    std::optional<Pair> self = operand("self");
    return self && give(productOf(writer, *self, *factor, dims));
  }
  return isRealScalar("other") ? copyParts() : multiplyTensors();
}

ValueId PairRules::partProduct(ValueId left, ValueId right) {
  if (left == noValue || right == noValue)
    return noValue;
  std::vector<NamedArgument> arguments = node->arguments;
  bool isFirst = true;
  for (NamedArgument &argument : arguments)
    visitValues(argument.value, [&](ValueId &id) {
      id = isFirst ? left : right;
      isFirst = false;
    });
  return writer.repeat(*node, std::move(arguments)).front();
}

bool PairRules::multiplyTensors() {
  llvm::SmallVector<ValueId> operands = program.operands(*node);
  if (operands.size() != 2)
    return false;
  Pair left = pairOf(operands[0]), right = pairOf(operands[1]);
  ValueId rr = partProduct(left.real, right.real), ii = partProduct(left.imag, right.imag);
  ValueId ri = partProduct(left.real, right.imag), ir = partProduct(left.imag, right.real);
  return give(productOf(writer, {rr, ii, ri, ir}, dims));
}

bool PairRules::divide() {
  std::optional<Pair> self = operand("self"), other = operand("other");
  if (!self || node->find("rounding_mode"))
    return false;
  if (other)
    return give(quotientOf(writer, *self, *other, dims));
  if (std::optional<std::complex<double>> divisor = complexScalar("other"))
    return give(productOf(writer, *self, 1.0 / *divisor, dims));
  return isRealScalar("other") && copyParts();
}

bool PairRules::invert() {
  std::optional<Pair> self = operand("self");
  return self &&
         give(quotientOf(writer, {writer.unary("aten.ones_like.default", writer.realOf(*self)), noValue}, *self, dims));
}

bool PairRules::square() {
  std::optional<Pair> self = operand("self");
  return self && give(squareOf(writer, *self, dims));
}

bool PairRules::power() {
  const Argument *exponent = node->find("exponent");
  const double *number = exponent ? std::get_if<double>(exponent) : nullptr;
  const SymbolicInt *integer = exponent ? std::get_if<SymbolicInt>(exponent) : nullptr;
  bool isSquare = (number && *number == 2) || (integer && *integer == SymbolicInt(2));
  return isSquare && square();
}

bool PairRules::exponential() {
  std::optional<Pair> self = operand("self");
  return self && give(exponentialOf(writer, *self, dims));
}

//===----------------------------------------------------------------------===//
// Modulus, argument, comparison
//===----------------------------------------------------------------------===//

bool PairRules::absolute() {
  std::optional<Pair> self = operand("self");
  return self && give(modulusOf(writer, *self, dims));
}

bool PairRules::angle() {
  std::optional<Pair> self = operand("self");
  return self && give(argumentOf(writer, *self, dims));
}

bool PairRules::compare() {
  std::optional<Pair> self = operand("self"), other = operand("other");
  if (!self || !other)
    return false;
  auto part = [&](ValueId left, ValueId right) {
    return writer.write(node->target, {tensorArgument("self", left), tensorArgument("other", right)}, dims,
                        ScalarType::Bool);
  };
  ValueId real = part(writer.realOf(*self), writer.realOf(*other));
  ValueId imag = part(writer.imagOf(*self), writer.imagOf(*other));
  return give(writer.write(name == "eq" ? "aten.logical_and.default" : "aten.logical_or.default",
                           {tensorArgument("self", real), tensorArgument("other", imag)}, dims, ScalarType::Bool));
}

} // namespace meshplan::archive
