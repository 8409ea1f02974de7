//===- nccl_omissions.cpp - what NCCL does otherwise ----------------------===//

#include "test/conformance/run_world.h"

namespace meshplan {

static std::string reductionOmission(DType dtype, Reduction reduction) {
  if (dtype == DType::i16)
    return "NCCL does not reduce i16";
  return isFloat(dtype) && reduction != Reduction::sum ? "NCCL's max and min of floats drop NaN" : "";
}

Omissions omissions() {
  return {.order = "NCCL adds and rounds in an order of its own",
          .disagreement = "NCCL does not compare what the ranks ask for; the hash of the program is compared before",
          .reduction = reductionOmission};
}

} // namespace meshplan
