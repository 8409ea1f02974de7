//===- arguments.cpp - arguments of the artifact for one rank -------------===//
//
// All that depends on the rank is an integer (IntExpr). It is evaluated when a program is prepared, and again in each
// microbatch only for calls that depend on it.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/arguments.h"

#include <algorithm>

using namespace meshplan;

/// FlatBuffers represents an empty vector by null.
template <typename Element, typename Vector> static std::vector<Element> elementsOf(const Vector *vector) {
  std::vector<Element> elements;
  if (vector)
    elements.assign(vector->begin(), vector->end());
  return elements;
}

static int64_t integerOf(const artifact::Arg &arg, flatbuffers::uoffset_t index, const RankView &view,
                         int64_t microbatch) {
  const artifact::IntExpr &expression = *arg.ints()->Get(index);
  int64_t integer = view.evaluate(expression);
  int64_t scale = arg.microbatch_scales() ? arg.microbatch_scales()->Get(index) : 0;
  if (scale != 0)
    // The number of the microbatch enters as a multiple of the rank's extent: each microbatch starts where the last one
    // ended. If the rank has 4 rows of each microbatch, microbatch 2 begins at its row 8.
    integer += view.evaluate({0, expression.value(), expression.dim(), 0, scale * microbatch});
  return integer;
}

static std::vector<int64_t> integersOf(const artifact::Arg &arg, const RankView &view, int64_t microbatch) {
  std::vector<int64_t> integers;
  for (flatbuffers::uoffset_t index = 0; arg.ints() && index < arg.ints()->size(); ++index)
    integers.push_back(integerOf(arg, index, view, microbatch));
  return integers;
}

static ArgumentContent contentOf(const artifact::Arg &arg, const RankView &view, int64_t microbatch) {
  using artifact::ArgKind;
  switch (arg.kind()) {
  case ArgKind::none:
    break;
  case ArgKind::value:
    return ValueArgument{arg.values()->Get(0)};
  case ArgKind::value_list:
    return ValueListArgument{elementsOf<int>(arg.values())};
  case ArgKind::integer:
    return integerOf(arg, 0, view, microbatch);
  case ArgKind::int_list:
    return integersOf(arg, view, microbatch);
  case ArgKind::real:
    return arg.reals()->Get(0);
  case ArgKind::real_list:
    return elementsOf<double>(arg.reals());
  case ArgKind::boolean:
    return arg.bools()->Get(0) != 0;
  case ArgKind::bool_list:
    return elementsOf<bool>(arg.bools());
  case ArgKind::string:
    return arg.text()->str();
  case ArgKind::dtype:
    return dtypeOf(arg.dtype());
  }
  return std::monostate();
}

std::vector<Argument> meshplan::argumentsOf(const artifact::Compute &compute, const RankView &view,
                                            int64_t microbatch) {
  std::vector<Argument> arguments;
  for (const artifact::Arg *arg : *compute.args())
    arguments.push_back({arg->name() ? arg->name()->str() : "", contentOf(*arg, view, microbatch)});
  return arguments;
}

bool meshplan::dependsOnMicrobatch(const artifact::Compute &compute) {
  return std::ranges::any_of(*compute.args(), [](const artifact::Arg *arg) { return arg->microbatch_scales(); });
}
