//===- operator.cpp - the few operators of the stand-in -------------------===//

#include "runtime/tensor/operator.h"

#include "test/lib/tensor/plain_tensor.h"

#include <algorithm>
#include <map>

using namespace meshplan;

namespace {

using Operands = std::span<const Tensor>;
using Function = Expected<Tensor> (*)(Operands);

struct OperatorEntry {
  std::vector<std::string> names; // names of its arguments, all of them tensors
  Function function;
};

Expected<Tensor> matrixProduct(Operands operands) {
  const Tensor &left = operands[0], &right = operands[1];
  int64_t shared = left.shape()[1];
  if (right.shape()[0] != shared)
    return Status::error(StatusCode::invalid, "cannot multiply ", describe(left), " by ", describe(right));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor result,
                            allocateTensor(std::vector{left.shape()[0], right.shape()[1]}, left.dtype()));
  forEachIndex(result.shape(), [&](auto index) {
    double sum = 0;
    for (int64_t k = 0; k < shared; ++k)
      sum += readElement(left, std::vector{index[0], k}) * readElement(right, std::vector{k, index[1]});
    writeElement(result, index, sum);
  });
  return result;
}

Expected<Tensor> sum(Operands operands) {
  if (!std::ranges::equal(operands[0].shape(), operands[1].shape()))
    return Status::error(StatusCode::invalid, "cannot add ", describe(operands[0]), " and ", describe(operands[1]));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor result, allocateTensor(operands[0].shape(), operands[0].dtype()));
  forEachIndex(result.shape(), [&](auto index) {
    writeElement(result, index, readElement(operands[0], index) + readElement(operands[1], index));
  });
  return result;
}

Expected<Tensor> positivePart(Operands operands) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor result, allocateTensor(operands[0].shape(), operands[0].dtype()));
  forEachIndex(result.shape(),
               [&](auto index) { writeElement(result, index, std::max(0.0, readElement(operands[0], index))); });
  return result;
}

/// Returns a view.
Expected<Tensor> transposed(Operands operands) {
  const PlainTensor &whole = *TensorAccess::pointer(operands[0]);
  return TensorAccess::view(operands[0], whole.offset, {whole.shape[1], whole.shape[0]},
                            {whole.strides[1], whole.strides[0]});
}

const OperatorEntry *findOperator(std::string_view target) {
  static const std::map<std::string, OperatorEntry, std::less<>> operators = {
      {"aten.mm.default", {{"self", "mat2"}, &matrixProduct}},
      {"aten.add.Tensor", {{"self", "other"}, &sum}},
      {"aten.relu.default", {{"self"}, &positivePart}},
      {"aten.t.default", {{"self"}, &transposed}}};
  auto found = operators.find(target);
  return found == operators.end() ? nullptr : &found->second;
}

class PlainCall final : public OperatorCall {
public:
  PlainCall(Function function, std::vector<int> inputs, int output)
      : function(function), inputs(std::move(inputs)), output(output) {}

  Status run(std::span<Tensor> values) override {
    std::vector<Tensor> operands;
    for (int input : inputs)
      operands.push_back(values[input]);
    MESHPLAN_ASSIGN_OR_RETURN(Tensor result, function(operands));
    if (output >= 0)
      values[output] = std::move(result);
    return Status();
  }

private:
  Function function;
  std::vector<int> inputs;
  int output;
};

} // namespace

Expected<std::unique_ptr<OperatorCall>>
meshplan::prepareCall(std::string_view target, std::span<const Argument> arguments, std::vector<int> outputs) {
  const OperatorEntry *entry = findOperator(target);
  if (!entry)
    return Status::error(StatusCode::notFound, "there is no operator '", target, "'");
  std::vector<int> inputs;
  for (const std::string &name : entry->names) {
    auto argument = std::ranges::find(arguments, name, &Argument::name);
    if (argument == arguments.end() || !std::holds_alternative<ValueArgument>(argument->content))
      return Status::error(StatusCode::invalid, target, " needs the tensor '", name, "'");
    inputs.push_back(std::get<ValueArgument>(argument->content).value);
  }
  if (outputs.size() != 1 || arguments.size() != inputs.size())
    return Status::error(StatusCode::invalid, target, " takes ", inputs.size(), " tensors and gives one");
  return std::unique_ptr<OperatorCall>(std::make_unique<PlainCall>(entry->function, std::move(inputs), outputs[0]));
}
