//===- index_fault.cpp - messages for indices out of range ----------------===//

#include "runtime/exec/steps/index_fault.h"

#include "runtime/base/names.h"
#include "runtime/exec/origin.h"
#include "runtime/tensor/elements.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

/// The row-major position of the faulty index in the rank's shard of an input: known if the input itself was read, or
/// if the index occurs there only once.
static std::optional<int64_t> elementOf(const IndexFault &fault, int input, std::span<const Tensor> values) {
  if (!values[input].defined())
    return std::nullopt;
  if (fault.value == input) {
    std::vector<int64_t> strides = contiguousStrides(values[input].shape());
    return std::inner_product(strides.begin(), strides.end(), fault.position.begin(), int64_t(0));
  }
  // The operators in between may have moved the elements, so the position where the fault occurred says nothing about
  // the input. A number that occurs only once does.
  auto element = onlyIndexOf(values[input], fault.index);
  return element ? *element : std::nullopt;
}

IndexFaultText meshplan::describeIndexFault(const IndexFault &fault, const RankView &view,
                                            std::span<const Tensor> values) {
  std::string number = fault.name + " " + std::to_string(fault.index) + " at ";
  std::string range = " is out of range [" + std::to_string(fault.begin) + ", " + std::to_string(fault.end) + ")";
  const artifact::Port *input = inputSourceOf(view.program(), fault.value);
  std::string name = input ? "input '" + input->name()->str() + "'" : "";
  if (input)
    if (std::optional<int64_t> element = elementOf(fault, input->value(), values))
      return {number + shapeText(view.globalPosition(input->value(), *element)) + " of " + name + range, true};
  std::string read = "the " + describe(values[fault.value]) + " that this rank reads";
  return {number + shapeText(fault.position) + " of " + read + (input ? ", which is of " + name + "," : "") + range,
          input != nullptr};
}
