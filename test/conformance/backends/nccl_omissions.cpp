//===- nccl_omissions.cpp - features that NCCL lacks ----------------------===//

#include "test/conformance/backends/nccl_omissions.h"

namespace meshplan {

static std::string reductionOmission(DType dtype, Reduction reduction) {
  if (dtype == DType::i16)
    return "NCCL does not reduce i16";
  return isFloat(dtype) && reduction != Reduction::sum ? "NCCL's max and min of floats drop NaN" : "";
}

Omissions ncclOmissions(std::string order) {
  return {.order = std::move(order),
          .disagreement = "NCCL does not compare what the ranks ask for; the hash of the program is compared before",
          .reduction = reductionOmission};
}

} // namespace meshplan
