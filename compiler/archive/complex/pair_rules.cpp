//===- pair_rules.cpp - operators of complex numbers on pairs ----*- C++ -*-===//
//
// run() picks the rule of an operator by its name. A rule reads the operands as
// pairs, writes real nodes and gives the pair, or the real tensor, of the
// result. A part that is zero everywhere (noValue) is never computed: the
// product of a complex and a real tensor takes two real products, not four.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/complex/pair_rules.h"

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
  return give(sumOf(*self, {added(other->real), added(other->imag)}));
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
    return give(sumOf(*other, negative));
  if (!isRealScalar("other"))
    return false;
  std::vector<NamedArgument> arguments{tensorArgument("self", writer.realOf(*self)), {"other", *node->find("other")}};
  return give(Pair{writer.write(node->target, std::move(arguments), dims, parts), negative.imag});
}

Pair PairRules::sumOf(const Pair &left, const Pair &right) {
  auto part = [&](ValueId ours, ValueId theirs) {
    return ours == noValue && theirs == noValue ? noValue : writer.sum(ours, theirs, dims);
  };
  return {part(left.real, right.real), part(left.imag, right.imag)};
}

Pair PairRules::productWith(Pair pair, std::complex<double> factor) {
  ValueId rr = writer.scaled(pair.real, factor.real()), ii = writer.scaled(pair.imag, factor.imag());
  ValueId ri = writer.scaled(pair.real, factor.imag()), ir = writer.scaled(pair.imag, factor.real());
  Pair result;
  if (rr != noValue || ii != noValue)
    result.real = writer.difference(rr, ii, dims);
  if (ri != noValue || ir != noValue)
    result.imag = writer.sum(ri, ir, dims);
  // At most one part may be missing, so a product with zero needs a tensor of zeros.
  if (result.real == noValue && result.imag == noValue)
    result.real = writer.unary("aten.zeros_like.default", writer.realOf(pair));
  return result;
}

bool PairRules::multiply() {
  if (std::optional<std::complex<double>> factor = complexScalar("other")) {
    std::optional<Pair> self = operand("self");
    return self && give(productWith(*self, *factor));
  }
  return isRealScalar("other") ? copyParts() : multiplyTensors();
}

ValueId PairRules::product(ValueId left, ValueId right) {
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
  Pair left = pairOf(operands[0]), right = pairOf(operands[1]), result;
  ValueId rr = product(left.real, right.real), ii = product(left.imag, right.imag);
  ValueId ri = product(left.real, right.imag), ir = product(left.imag, right.real);
  if (rr != noValue || ii != noValue)
    result.real = writer.difference(rr, ii, dims);
  if (ri != noValue || ir != noValue)
    result.imag = writer.sum(ri, ir, dims);
  return give(result);
}

/// As in PyTorch, both parts of the divisor are first divided by the larger one, so that their squares neither overflow
/// nor underflow. The quotient does not depend on that scale, so no gradient flows through it.
Pair PairRules::quotient(Pair left, Pair right) {
  auto over = [&](ValueId part, ValueId divisor) {
    return part == noValue ? noValue : writer.binary("aten.div.Tensor", part, divisor, dims);
  };
  if (right.imag == noValue)
    return {over(left.real, right.real), over(left.imag, right.real)};
  if (right.real == noValue)
    return {over(left.imag, right.imag), writer.negated(over(left.real, right.imag))};
  Dims shape = writer.value(right.real).dims;
  ValueId scale = writer.binary("aten.maximum.default", writer.unary("aten.abs.default", right.real),
                                writer.unary("aten.abs.default", right.imag), shape);
  scale = writer.unary("aten.detach.default", scale);
  ValueId c = writer.binary("aten.div.Tensor", right.real, scale, shape);
  ValueId d = writer.binary("aten.div.Tensor", right.imag, scale, shape);
  auto times = [&](ValueId part, ValueId factor) {
    return part == noValue ? noValue : writer.binary("aten.mul.Tensor", part, factor, dims);
  };
  ValueId norm =
      writer.sum(writer.binary("aten.mul.Tensor", c, c, shape), writer.binary("aten.mul.Tensor", d, d, shape), shape);
  ValueId real = writer.sum(times(left.real, c), times(left.imag, d), dims);
  ValueId imag = writer.difference(times(left.imag, c), times(left.real, d), dims);
  return {over(over(real, norm), scale), over(over(imag, norm), scale)};
}

bool PairRules::divide() {
  std::optional<Pair> self = operand("self"), other = operand("other");
  if (!self || node->find("rounding_mode"))
    return false;
  if (other)
    return give(quotient(*self, *other));
  if (std::optional<std::complex<double>> divisor = complexScalar("other"))
    return give(productWith(*self, 1.0 / *divisor));
  return isRealScalar("other") && copyParts();
}

bool PairRules::invert() {
  std::optional<Pair> self = operand("self");
  return self && give(quotient({writer.unary("aten.ones_like.default", writer.realOf(*self)), noValue}, *self));
}

bool PairRules::square() {
  std::optional<Pair> self = operand("self");
  if (!self)
    return false;
  auto times = [&](ValueId left, ValueId right) {
    return left == noValue || right == noValue ? noValue : writer.binary("aten.mul.Tensor", left, right, dims);
  };
  ValueId mixed = times(self->real, self->imag);
  return give(Pair{writer.difference(times(self->real, self->real), times(self->imag, self->imag), dims),
                   mixed == noValue ? noValue : writer.sum(mixed, mixed, dims)});
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
  if (!self)
    return false;
  ValueId radius = self->real == noValue ? noValue : writer.unary("aten.exp.default", self->real);
  if (self->imag == noValue)
    return give(Pair{radius, noValue});
  auto scaled = [&](llvm::StringRef target) {
    ValueId part = writer.unary(target, self->imag);
    return radius == noValue ? part : writer.binary("aten.mul.Tensor", radius, part, dims);
  };
  ValueId real = scaled("aten.cos.default");
  return give(Pair{real, scaled("aten.sin.default")});
}

//===----------------------------------------------------------------------===//
// Modulus, argument, comparison
//===----------------------------------------------------------------------===//

ValueId PairRules::compared(llvm::StringRef target, ValueId self, double other) {
  return writer.write(target, {tensorArgument("self", self), {"other", Argument(other)}}, writer.value(self).dims,
                      ScalarType::Bool);
}

ValueId PairRules::filled(ValueId self, ValueId mask, double value) {
  return writer.write("aten.masked_fill.Scalar",
                      {tensorArgument("self", self), tensorArgument("mask", mask), {"value", Argument(value)}},
                      writer.value(self).dims, writer.value(self).type);
}

ValueId PairRules::zeroMask(Pair pair) {
  return writer.write("aten.logical_and.default",
                      {tensorArgument("self", compared("aten.eq.Scalar", pair.real, 0)),
                       tensorArgument("other", compared("aten.eq.Scalar", pair.imag, 0))},
                      writer.value(pair.real).dims, ScalarType::Bool);
}

/// The derivative at zero is zero, as in PyTorch, although that of hypot is NaN there.
bool PairRules::absolute() {
  std::optional<Pair> self = operand("self");
  if (!self)
    return false;
  if (self->real == noValue || self->imag == noValue)
    return give(writer.unary("aten.abs.default", self->real == noValue ? self->imag : self->real));
  ValueId zero = zeroMask(*self);
  return give(filled(writer.binary("aten.hypot.default", filled(self->real, zero, 1), self->imag, dims), zero, 0));
}

/// Where both parts are zero, atan2 has no finite gradient: its value there is taken without a gradient, and the other
/// branch is computed at (1, 0) instead.
bool PairRules::angle() {
  std::optional<Pair> self = operand("self");
  if (!self)
    return false;
  Pair both{writer.realOf(*self), writer.imagOf(*self)};
  ValueId zero = zeroMask(both);
  ValueId here = writer.binary("aten.atan2.default", both.imag, filled(both.real, zero, 1), dims);
  ValueId atZero = writer.unary("aten.detach.default", writer.binary("aten.atan2.default", both.imag, both.real, dims));
  return give(writer.write(
      "aten.where.self",
      {tensorArgument("condition", zero), tensorArgument("self", atZero), tensorArgument("other", here)}, dims, type));
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
