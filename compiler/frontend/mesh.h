//===- mesh.h - the axes of a plan and the names of their digits -*- C++ -*-===//
//
// `mesh dp = 8, tp = 4` has two axes. `fold (dp, tp) as (edp = 4, ep = 8)` names digits of them: edp is dp:(1)4, and ep
// is dp:(4)2 and tp, major to minor. Wherever a plan names axes, it may name either; the rest of the compiler knows
// axes and digits only. So both have one numbering, and what they mean is asked here.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_MESH_H
#define MESHPLAN_COMPILER_FRONTEND_MESH_H

#include "compiler/support/diagnostics.h"
#include "runtime/schema/mesh_axes.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// What a plan names where it takes axes, as numbers: the axes of the mesh, then the names of its folds.
using AxisList = std::vector<size_t>;

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  SourceRange range; ///< of its definition in the plan
};

/// A name of a fold. One of size 1 has no digits.
struct FoldedName {
  std::string name;
  int64_t size = 1;
  SourceRange range;
  std::vector<AxisRef> digits; ///< major to minor; no two are adjacent digits of one axis
};

/// The device mesh, outermost axis first. Rank order is row-major.
struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<FoldedName> folded;
  SourceRange range; ///< of the statement; none if the plan has no mesh

  int64_t worldSize() const;
  /// The number of an axis or of a name of a fold.
  std::optional<size_t> find(llvm::StringRef name) const;
  /// All of them, by number.
  std::vector<std::string> names() const;
  const std::string &nameOf(size_t number) const;
  int64_t sizeOf(size_t number) const;
  /// The number of shards that the axes make.
  int64_t shardsOf(llvm::ArrayRef<size_t> numbers) const;
  /// The digits of a list, major to minor, with adjacent digits of one axis joined. An axis is one digit.
  std::vector<AxisRef> digitsOf(llvm::ArrayRef<size_t> numbers) const;
};

/// True if two digits of one mesh have a common one. Requires that one divides the other wherever they are cut.
bool overlap(const AxisRef &left, const AxisRef &right);

/// All that is in one of the digits, in the order of the mesh.
std::vector<AxisRef> unionOf(llvm::ArrayRef<AxisRef> digits);

/// What `digits` leave of `of`, in the order of `of`.
std::vector<AxisRef> without(llvm::ArrayRef<AxisRef> of, llvm::ArrayRef<AxisRef> digits);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_MESH_H
