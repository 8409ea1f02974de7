//===- scalars.cpp - scalars of a step ------------------------------------===//

#include "runtime/train/scalars.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace meshplan;

Expected<double> meshplan::scalarOutput(const Walk &walk, std::string_view name) {
  const artifact::Port *port = findOutput(walk.view().program(), name);
  if (!port)
    return Status::error(StatusCode::notFound, "the program has no output '", name, "'");
  // An output is never partial, so a rank that has its element has the whole number.
  const Tensor &own = walk.valueOf(port->value());
  if (own.elementCount() != 1 || !isFloat(own.dtype()))
    return Status::error(StatusCode::invalid, "output '", name, "' is ", describe(own),
                         ", it must be one number of floating point");
  MESHPLAN_ASSIGN_OR_RETURN(Tensor onTheHost, onHost(own));
  double number = 0;
  convertFloats(onTheHost.data(), own.dtype(), reinterpret_cast<std::byte *>(&number), DType::f64, 1);
  return number;
}

Expected<std::vector<ExpertReport>> meshplan::expertsOf(const Walk &walk) {
  std::vector<ExpertReport> layers;
  for (const artifact::Port &port : elementsOf(walk.view().program().outputs())) {
    if (!port.experts() || port.experts()->size() == 0)
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(walk.valueOf(port.value())));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor rowMajor, contiguous(host));
    auto *numbers = reinterpret_cast<const int64_t *>(rowMajor.data());
    int64_t experts = rowMajor.shape()[1];
    for (flatbuffers::uoffset_t row = 0; row < port.experts()->size(); ++row, numbers += experts) {
      int64_t computed = std::accumulate(numbers, numbers + experts, int64_t(0));
      layers.push_back(
          {port.experts()->Get(row)->str(), {numbers, numbers + experts}, port.pairs()->Get(row) - computed});
    }
  }
  return layers;
}

Expected<int64_t> meshplan::samplesOf(const artifact::Program &program) {
  const artifact::Port *first = nullptr;
  int64_t samples = 0;
  for (const artifact::Port &input : elementsOf(program.inputs())) {
    std::vector<int64_t> shape = globalShapeOf(*program.values()->Get(input.value()));
    if (shape.empty())
      continue;
    if (first && shape.front() != samples)
      return Status::error(StatusCode::invalid, "inputs '", first->name()->string_view(), "' and '",
                           input.name()->string_view(), "' have ", samples, " and ", shape.front(),
                           " rows; a training run takes samples by the first dim of each input");
    first = &input;
    samples = shape.front();
  }
  if (!first)
    return Status(StatusCode::invalid, "no input of the program has dims: there are no samples to train on");
  return samples;
}

int64_t meshplan::tokensOf(const artifact::Program &program) {
  int64_t tokens = 0;
  for (const artifact::Port &input : elementsOf(program.inputs())) {
    const artifact::Value &value = *program.values()->Get(input.value());
    std::vector<int64_t> shape = globalShapeOf(value);
    // Token ids have the dims [samples, positions]; labels and masks of the same shape do not add tokens.
    bool isTokens = shape.size() == 2 && !isFloat(dtypeOf(value.dtype())) && dtypeOf(value.dtype()) != DType::boolean;
    if (isTokens)
      tokens = std::max(tokens, elementCount(shape));
  }
  return tokens;
}

std::vector<std::pair<std::string, double>> meshplan::ratesOf(ProgramRunner &runner) {
  std::vector<std::pair<std::string, double>> rates;
  Walk &walk = runner.walk();
  for (const artifact::Setting &setting : elementsOf(walk.view().program().settings())) {
    std::string name = setting.name()->str();
    if (name == "optimizer.lr" || (name.starts_with("optimizer.") && name.ends_with(".lr")))
      rates.emplace_back(name, walk.numbers().numberAt(setting, walk.steps()));
  }
  return rates;
}

Status meshplan::takeLargest(Group &hosts, std::span<double> numbers, const char *what) {
  return waitFor(hosts.startAllReduce(numbers.data(), numbers.data(), static_cast<int64_t>(numbers.size()), DType::f64,
                                      Reduction::max, {.sequence = -1, .origin = what}));
}
