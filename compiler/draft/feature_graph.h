//===- feature_graph.h - which dims of a model belong together --*- C++ -*-===//
//
// What drafting a plan needs to know of a program: for each operator the dims
// that it divides together, and for each weight what it is used for. Plain
// data; dims of all tensors are numbered from 0.
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
    together, ///< the call divides all of them or none
    reduced,  ///< the same, and the results become addends
    whole,    ///< the call needs its operands whole there, or cannot express their division
    made,     ///< only in results, which are whole on every rank: dividing them costs nothing
  };
  Kind kind = Kind::together;
  size_t call = 0;
  std::vector<size_t> dims;
  /// Of a convolution in groups: how many of the dims, at the end, are the activation's. It may be whole, of which each
  /// rank reads the groups that are its own.
  size_t activations = 0;
};

/// A dim that a call takes apart or puts together, part by part.
struct DimParts {
  size_t dim = 0;
  std::vector<int64_t> sizes; ///< in order, two or more
  std::vector<size_t> links;  ///< of each part, the link that has the dims that are this part; empty if none have
};

/// A weight where a module uses it. A tied weight has several uses.
struct WeightUse {
  enum class Role {
    linear,    ///< contracted with an activation
    embedding, ///< looked up by indices
    other,     ///< a norm, a convolution, ...
  };
  Role role = Role::other;
  std::string module; ///< that can be given a style
  std::string name;   ///< of the parameter
  size_t parameter = 0;
  size_t call = 0; ///< where it meets the activation
  std::vector<size_t> dims;
  std::optional<size_t> outputDim; ///< numbers of dims of the parameter
  std::optional<size_t> inputDim;
  bool looksUpInput = false; ///< of an embedding: the indices come from an input of the model
};

struct FeatureGraph {
  std::vector<GraphCall> calls; ///< in program order
  std::vector<DimLink> links;
  std::vector<DimParts> parts;
  std::vector<WeightUse> weights;          ///< by call
  std::vector<size_t> outputDims;          ///< of what the model returns
  std::vector<std::vector<size_t>> inputs; ///< dims of each input of the model
  std::vector<int64_t> extents;            ///< of all dims
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_FEATURE_GRAPH_H
