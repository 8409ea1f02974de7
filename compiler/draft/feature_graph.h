//===- feature_graph.h - which dims of a model belong together --*- C++ -*-===//
//
// What drafting needs to know about a program: for each operator the dims that it splits together, and for each weight
// how it is used. Plain data; the dims of all tensors are numbered from 0.
//
// Example: y[m, n] = linear(x[m, k], w[n, k]) has the dims x: 0, 1; w: 2, 3; y: 4, 5 and three links: {0, 4} together
// (m), {2, 5} together (n), {1, 3} reduced (k). The use of w is linear, with outputDim 2 and inputDim 3.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DRAFT_FEATURE_GRAPH_H
#define MESHPLAN_COMPILER_DRAFT_FEATURE_GRAPH_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

struct GraphCall {
  std::string target;
  std::string module;
};

/// The dims in which one factor of a call is the major one.
struct DimLink {
  enum class Kind {
    together, ///< the call splits all of them or none
    reduced,  ///< like together, but splitting them makes the results partial sums
    whole,    ///< the call needs its operands whole there, or cannot be split there
    made,     ///< only in results; the call computes any shard of them without communication
  };
  Kind kind = Kind::together;
  size_t call = 0;
  std::vector<size_t> dims;
  /// For a grouped convolution: the number of dims, at the end of `dims`, that belong to the activation. The activation
  /// may be whole; each rank then reads the groups that it needs.
  size_t activations = 0;
};

/// A dim that a call splits into parts or concatenates from parts.
struct DimParts {
  size_t dim = 0;
  std::vector<int64_t> sizes; ///< in order, two or more
  std::vector<size_t> links;  ///< for each part, the link that has the dims that are this part; empty if none have
};

/// One use of a weight by a module. A tied weight has several uses.
struct WeightUse {
  enum class Role {
    linear,    ///< contracted with an activation
    embedding, ///< looked up by indices
    other,     ///< a norm, a convolution, ...
  };
  Role role = Role::other;
  std::string module; ///< the module that can be given a style
  std::string name;   ///< name of the parameter
  size_t parameter = 0;
  size_t call = 0; ///< the call that combines it with the activation
  std::vector<size_t> dims;
  std::optional<size_t> outputDim; ///< dims of the parameter in the graph
  std::optional<size_t> inputDim;
  bool looksUpInput = false; ///< the indices of the embedding are an input of the model
  /// If it has a matrix or bias for each expert of a mixture, in its first dim: the module whose style divides them,
  /// which has the operators that compute rows with it.
  std::optional<std::string> expertsOf = std::nullopt;
};

/// Modules that hold the experts of a mixture.
struct Mixture {
  std::string path; ///< of all layers: "layers.*.experts"
  int64_t experts = 0;

  bool operator==(const Mixture &) const = default;
};

struct FeatureGraph {
  std::vector<GraphCall> calls; ///< in program order
  std::vector<DimLink> links;
  std::vector<DimParts> parts;
  std::vector<WeightUse> weights;          ///< in the order of calls
  std::vector<size_t> outputDims;          ///< dims of the model's outputs
  std::vector<std::vector<size_t>> inputs; ///< dims of each input of the model
  std::vector<int64_t> extents;            ///< extents of all dims
  std::vector<Mixture> mixtures;           ///< each once
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_FEATURE_GRAPH_H
