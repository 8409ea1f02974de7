//===- weight_pieces.h - the tensors of a weight file ------------*- C++ -*-===//
//
// The names under which weight files have a parameter, where these differ from its own, and where these tensors are in
// it, decided once for the language, the dialects, the loader of the artifact and the reader of weights.
//
// Example: the gate and up projections of four experts, each of [48, 16], are the parameter [4, 96, 16] that has
//
//   before {"h.experts.", "h.experts."}, after {".w1", ".w3"}, sizes {48, 48}, dim 1, count 4
//
//   h.experts.0.w1 is [0, 0 to 47, all], h.experts.0.w3 is [0, 48 to 95, all], h.experts.1.w1 is [1, 0 to 47, all], ...
//
// Header only, standard library only, no state. The functions are pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_WEIGHT_PIECES_H
#define MESHPLAN_RUNTIME_SCHEMA_WEIGHT_PIECES_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// The names of a parameter in weight files. `before` and `after` have an element for each part along `dim`, and
/// `sizes` its extent. If `count` is not 0, the parameter is stacked: its first dim, of that extent, is numbered in the
/// names, between the two texts.
struct WeightPieces {
  std::vector<std::string> before, after;
  std::vector<int64_t> sizes;
  int64_t dim = 0;
  int64_t count = 0;

  bool operator==(const WeightPieces &) const = default;
};

/// A tensor of the file, and where its elements are in the parameter: `shape` from `begin`. A tensor of a stacked
/// parameter lacks the first dim.
struct WeightPiece {
  std::string name;
  std::vector<int64_t> begin;
  std::vector<int64_t> shape;  ///< of the part of the parameter
  std::vector<int64_t> stored; ///< of the tensor
};

/// Why these are not the pieces of a parameter of this shape; empty if they are. Pieces that are, neither overlap nor
/// leave elements out.
inline std::string piecesFault(const WeightPieces &pieces, std::span<const int64_t> shape) {
  auto rank = static_cast<int64_t>(shape.size());
  size_t parts = pieces.sizes.size();
  if (parts == 0 || pieces.before.size() != parts || pieces.after.size() != parts)
    return "its lists have different lengths, or are empty";
  if (std::ranges::any_of(pieces.sizes, [](int64_t size) { return size < 0; }))
    return "a part has a negative size";
  if (pieces.count < 0 || (pieces.count > 0 && (rank == 0 || shape[0] != pieces.count)))
    return "it stacks " + std::to_string(pieces.count) + " tensors";
  // A scalar, and an element of a stacked vector, have no dim that could be divided.
  int64_t first = pieces.count > 0 ? 1 : 0;
  if (rank == first && parts == 1 && pieces.sizes[0] == 1 && pieces.dim == first)
    return "";
  if (pieces.dim < first || pieces.dim >= rank)
    return "it has no dim " + std::to_string(pieces.dim) + " to divide";
  int64_t left = shape[pieces.dim];
  for (int64_t size : pieces.sizes) {
    if (size > left)
      return "its parts are more than dim " + std::to_string(pieces.dim);
    left -= size;
  }
  return left == 0 ? "" : "its parts are less than dim " + std::to_string(pieces.dim);
}

/// The tensors, by element of the first dim and then by part. Precondition: no piecesFault.
inline std::vector<WeightPiece> piecesOf(const WeightPieces &pieces, std::span<const int64_t> shape) {
  std::vector<WeightPiece> all;
  bool isStacked = pieces.count > 0;
  for (int64_t index = 0; index < std::max<int64_t>(pieces.count, 1); ++index) {
    int64_t begin = 0;
    for (size_t part = 0; part < pieces.sizes.size(); ++part) {
      WeightPiece piece{pieces.before[part] + (isStacked ? std::to_string(index) : "") + pieces.after[part],
                        std::vector<int64_t>(shape.size(), 0),
                        {shape.begin(), shape.end()},
                        {}};
      if (isStacked) {
        piece.begin[0] = index;
        piece.shape[0] = 1;
      }
      if (pieces.dim < static_cast<int64_t>(shape.size())) {
        piece.begin[pieces.dim] = begin;
        piece.shape[pieces.dim] = pieces.sizes[part];
      }
      begin += pieces.sizes[part];
      piece.stored.assign(piece.shape.begin() + (isStacked ? 1 : 0), piece.shape.end());
      all.push_back(std::move(piece));
    }
  }
  return all;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_WEIGHT_PIECES_H
