//===- generate.h - problems of a kind ----------------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_GENERATE_H
#define MESHPLAN_TEST_LIB_PROBLEM_GENERATE_H

#include "compiler/scheduling/problem.h"

namespace meshplan::scheduling {

/// A random problem of 8 to 12 operations on a compute lane, two lanes of collectives and one of copies, with buffers
/// of different sizes and links that lanes share or not. Determined by the seed, on every host.
Problem randomOverlap(unsigned seed);

/// A training step of equal layers with sharded parameters (ZeRO-3) and tensor parallelism, of 40 operations a layer:
/// gathers of parameters, all-reduces of activations, a backward pass with its gathers, weight gradients apart from
/// those of activations, and reduce-scatters of gradients.
Problem trainingStep(unsigned layers);

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_GENERATE_H
