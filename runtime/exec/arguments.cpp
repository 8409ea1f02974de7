//===- arguments.cpp - arguments of the artifact for one rank -------------===//

#include "runtime/exec/arguments.h"

using namespace meshplan;

/// Null is an empty vector in a FlatBuffer.
template <typename Element, typename Vector> static std::vector<Element> elementsOf(const Vector *vector) {
  std::vector<Element> elements;
  if (vector)
    elements.assign(vector->begin(), vector->end());
  return elements;
}

static std::vector<int64_t> integersOf(const artifact::Arg &arg, const RankView &view) {
  std::vector<int64_t> integers;
  if (arg.ints())
    for (const artifact::IntExpr *expression : *arg.ints())
      integers.push_back(view.evaluate(*expression));
  return integers;
}

static ArgumentContent contentOf(const artifact::Arg &arg, const RankView &view) {
  using artifact::ArgKind;
  switch (arg.kind()) {
  case ArgKind::none:
    break;
  case ArgKind::value:
    return ValueArgument{arg.values()->Get(0)};
  case ArgKind::value_list:
    return ValueListArgument{elementsOf<int>(arg.values())};
  case ArgKind::integer:
    return view.evaluate(*arg.ints()->Get(0));
  case ArgKind::int_list:
    return integersOf(arg, view);
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

std::vector<Argument> meshplan::argumentsOf(const artifact::Compute &compute, const RankView &view) {
  std::vector<Argument> arguments;
  for (const artifact::Arg *arg : *compute.args())
    arguments.push_back({arg->name() ? arg->name()->str() : "", contentOf(*arg, view)});
  return arguments;
}
