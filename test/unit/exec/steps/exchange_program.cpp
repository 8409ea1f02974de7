//===- exchange_program.cpp - programs that exchange rows -----------------===//

#include "test/unit/exec/steps/exchange_program.h"

#include <algorithm>

using namespace meshplan;

using artifact::RoutedKind;

ExchangeProgram::ExchangeProgram(ExchangeAxes given, LayerSizes sizes, DType dtype)
    : builder(given.mesh), split(std::move(given)), sizes(sizes), dtype(dtype) {
  indices = builder.input(
      "indices", {{sizes.samples, split.samples}, {sizes.positions, split.positions}, {sizes.slots}}, DType::i64);
  table = rowsValue(home(0), RoutedKind::rows, DType::i64);
  counts = rowsValue(home(0), RoutedKind::counts, DType::i64);
  builder.compute("meshplan.route",
                  {tensorArg("indices", indices), integerArg("first", offsetOf(table, 0)),
                   integerArg("experts", extentOf(table, 0))},
                  {table, counts});
}

std::vector<std::string> ExchangeProgram::expertAxes() const {
  std::vector<std::string> axes = split.kept;
  axes.insert(axes.end(), split.exchanged.begin(), split.exchanged.end());
  return axes;
}

std::vector<std::string> ExchangeProgram::withoutExchanged(const std::vector<std::string> &axes) const {
  std::vector<std::string> rest = axes;
  std::erase_if(
      rest, [&](const std::string &axis) { return std::ranges::find(split.exchanged, axis) != split.exchanged.end(); });
  return rest;
}

/// [experts, samples, positions], and features if there are some.
std::vector<TestDim> ExchangeProgram::dims(std::vector<std::string> experts, bool isAway, int64_t features) const {
  std::vector<TestDim> all{{sizes.experts, std::move(experts)},
                           {sizes.samples, isAway ? withoutExchanged(split.samples) : split.samples},
                           {sizes.positions, isAway ? withoutExchanged(split.positions) : split.positions}};
  if (features > 0)
    all.push_back({features});
  return all;
}

int ExchangeProgram::rowsValue(std::vector<TestDim> dims, RoutedKind kind, DType type) {
  return builder.routed(builder.value(std::move(dims), type), kind, 3, sizes.slots);
}

void ExchangeProgram::gatherNumbers() {
  int64_t ranks = builder.sizeOf(split.exchanged);
  int own = builder.value({{ranks, split.exchanged}, {sizes.experts, split.kept}}, DType::i64);
  builder.compute("meshplan.counts_to_gather", {tensorArg("counts", counts), tensorArg("like", table)}, {own});
  std::vector<TestDim> whole{{ranks}, {sizes.experts, split.kept}};
  int gathered = builder.value(whole, DType::i64);
  builder.collective(Kind::all_gather, split.exchanged, own, gathered, 0);
  numbers = builder.value(whole, DType::i64);
  builder.compute("meshplan.counts_on_host", {tensorArg("self", gathered)}, {numbers});
}

int ExchangeProgram::dispatch(int tokens, int64_t features) {
  int rows = rowsValue(home(features), RoutedKind::rows, dtype);
  builder.compute("meshplan.dispatch",
                  {tensorArg("self", tokens), tensorArg("table", table), integerArg("slots", literal(sizes.slots))},
                  {rows});
  return rows;
}

std::vector<artifact::ArgT> ExchangeProgram::orderArgs(std::string name, int rows, int ordered) const {
  std::vector<artifact::ArgT> args{tensorArg("counts", numbers), integerArg("begin", offsetOf(numbers, 1)),
                                   integerArg("first", offsetOf(ordered, 0)),
                                   integerArg("experts", extentOf(ordered, 0))};
  if (!name.empty())
    args.push_back(tensorArg(name, rows));
  return args;
}

int ExchangeProgram::toExperts(int rows, int64_t features) {
  int arrivals = rowsValue(away(features), RoutedKind::arrivals, dtype);
  builder.exchange(split.exchanged, rows, arrivals, numbers);
  int ordered = rowsValue(away(features), RoutedKind::rows, dtype);
  builder.compute("meshplan.order_by_expert", orderArgs("arrivals", arrivals, ordered), {ordered});
  return ordered;
}

int ExchangeProgram::fromExperts(int rows, int64_t features) {
  int arrivals = rowsValue(away(features), RoutedKind::arrivals, dtype);
  builder.compute("meshplan.order_by_rank", orderArgs("rows", rows, arrivals), {arrivals});
  int back = rowsValue(home(features), RoutedKind::rows, dtype);
  builder.exchange(split.exchanged, arrivals, back, numbers);
  return back;
}

int ExchangeProgram::linear(int rows, int weight, int own, int64_t features, bool transposed) {
  int product = rowsValue(away(features), RoutedKind::rows, dtype);
  artifact::ArgT flag;
  flag.name = "transposed";
  flag.kind = artifact::ArgKind::boolean;
  flag.bools = {transposed};
  builder.compute("meshplan.grouped_linear",
                  {tensorArg("rows", rows), tensorArg("weight", weight), tensorArg("counts", own), std::move(flag)},
                  {product});
  return product;
}

int ExchangeProgram::summed(int addends, std::vector<TestDim> whole, std::vector<std::string> axes) {
  if (axes.empty())
    return addends;
  int sum = builder.value(std::move(whole), dtype);
  builder.collective(Kind::all_reduce, std::move(axes), addends, sum);
  return sum;
}

int ExchangeProgram::combine(int rows, int64_t features) {
  std::vector<TestDim> tokens = home(features);
  tokens.erase(tokens.begin());
  int own = builder.value(tokens, dtype, split.kept);
  builder.compute("meshplan.combine",
                  {tensorArg("rows", rows), tensorArg("table", table), integerArg("slots", literal(sizes.slots)),
                   integersArg("size", {extentOf(own, 0), extentOf(own, 1), literal(features)})},
                  {own});
  return summed(own, std::move(tokens), split.kept);
}

void ExchangeProgram::addLayer() {
  std::vector<TestDim> tokens{{sizes.samples, split.samples}, {sizes.positions, split.positions}};
  auto tokensOf = [&](int64_t features) {
    std::vector<TestDim> all = tokens;
    all.push_back({features});
    return all;
  };
  int x = builder.input("x", tokensOf(sizes.hidden), dtype), g = builder.input("g", tokensOf(sizes.features), dtype);
  std::vector<TestDim> matrices{{sizes.experts, expertAxes()}, {sizes.features}, {sizes.hidden}};
  int weight = builder.input("w", matrices, dtype);
  gatherNumbers();
  int own = rowsValue(away(0), RoutedKind::counts, DType::i64);
  builder.compute("meshplan.counts_of_experts", orderArgs("", -1, own), {own});
  int rows = toExperts(dispatch(x, sizes.hidden), sizes.hidden);
  int product = fromExperts(linear(rows, weight, own, sizes.features, false), sizes.features);
  builder.output("y", combine(product, sizes.features));

  int gradient = toExperts(dispatch(g, sizes.features), sizes.features);
  int ofRows = fromExperts(linear(gradient, weight, own, sizes.hidden, true), sizes.hidden);
  builder.output("dx", combine(ofRows, sizes.hidden));
  std::vector<std::string> rest = withoutExchanged(split.samples), positions = withoutExchanged(split.positions);
  rest.insert(rest.end(), positions.begin(), positions.end());
  int ofWeight = builder.value(matrices, dtype, rest);
  builder.compute("meshplan.grouped_linear_weight_gradient",
                  {tensorArg("gradient", gradient), tensorArg("rows", rows), tensorArg("counts", own)}, {ofWeight});
  builder.output("dw", summed(ofWeight, matrices, rest));
}
