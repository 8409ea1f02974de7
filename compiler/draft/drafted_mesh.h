//===- drafted_mesh.h - the mesh of a foreign plan --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFTED_MESH_H
#define MESHPLAN_COMPILER_DRAFT_DRAFTED_MESH_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/draft/mesh_roles.h"

namespace meshplan {

/// The mesh of `adopted` on `ranks` ranks, where they are stated: dp and tp, or dp, fsdp and tp if groups of ranks hold
/// the same shards. If `stated` is not empty, it is used instead. Reports sizes that contradict each other and a
/// missing number of ranks; then the result is empty. `file` is the foreign plan. Pure.
std::optional<std::vector<DraftAxis>> draftMesh(const AdoptedMesh &adopted, const std::vector<DraftAxis> &stated,
                                                std::optional<int64_t> ranks, int32_t file, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFTED_MESH_H
