//===- generate.h - problems of a kind ----------------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_GENERATE_H
#define MESHPLAN_TEST_LIB_PROBLEM_GENERATE_H

#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// A random problem of 8 to 12 operations on a compute lane, two lanes of collectives and one of copies, with buffers
/// of different sizes and links that lanes share or not. Determined by the seed, on every host.
Problem randomOverlap(unsigned seed);

/// The problem `seed` of those by which solvers are tested: of any kind; half of them have a memory limit that some
/// order keeps. For 8 ranks. Determined by the seed, on every host.
Problem randomAnswerable(unsigned seed);

/// Puts the communicators of a problem for a mesh of 2 x 4 ranks on one of outer x inner ranks.
void resizeMesh(Problem &problem, int64_t outer, int64_t inner);

/// Problems of two to four coordinates, of two ranks each, that take part in common instances; some of them are one
/// grouped launch. In the order of the problems, the instances have no cycle. The solutions are empty. Determined by
/// the seed, on every host.
std::vector<Coordinate> randomCoordinates(unsigned seed);

/// A training step of equal layers with sharded parameters (ZeRO-3) and tensor parallelism, of 40 operations a layer:
/// gathers of parameters, all-reduces of activations, a backward pass with its gathers, weight gradients apart from
/// those of activations, and reduce-scatters of gradients.
Problem trainingStep(unsigned layers);

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_GENERATE_H
