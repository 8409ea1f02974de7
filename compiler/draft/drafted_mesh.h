//===- drafted_mesh.h - the mesh of a plan of others ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFTED_MESH_H
#define MESHPLAN_COMPILER_DRAFT_DRAFTED_MESH_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/draft/mesh_roles.h"

namespace meshplan {

/// The mesh that `adopted` comes to on `ranks` ranks, where they are said: dp, or dp and fsdp for groups that hold the
/// same shards, and tp. A mesh that is `stated`, which may be empty, holds. Reports, and returns nothing for, sizes
/// that contradict each other, and a number of ranks that nobody says; `file` is the foreign plan. Pure.
std::optional<std::vector<DraftAxis>> draftMesh(const AdoptedMesh &adopted, const std::vector<DraftAxis> &stated,
                                                std::optional<int64_t> ranks, int32_t file, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFTED_MESH_H
