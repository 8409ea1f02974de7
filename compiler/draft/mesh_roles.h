//===- mesh_roles.h - what the axes of a drafted mesh are for ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_MESH_ROLES_H
#define MESHPLAN_COMPILER_DRAFT_MESH_ROLES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace meshplan {

/// data: splits the batch; tensor: splits weights.
enum class AxisRole { data, tensor };

struct DraftAxis {
  std::string name;
  int64_t size = 1;
  AxisRole role = AxisRole::data;
};

/// Reads "dp=2,tp=3", outermost axis first. The name of an axis tells its role: dp, data, fsdp and batch are data axes;
/// tp, model, tensor and mp are tensor axes. Fails on another name, a repeated name, and a size below 1. Pure.
llvm::Expected<std::vector<DraftAxis>> parseDraftMesh(llvm::StringRef text);

/// The names of the axes of a role, in the form of the language: "tp", "(dp, fsdp)"; empty if there are none.
std::string axesOfRole(const std::vector<DraftAxis> &mesh, AxisRole role);

/// The axes over which experts are divided, in the form of the language: the data axes, then the tensor axes. In the
/// other order all ranks of a tensor axis would compute the same tokens, which moves more bytes.
std::string axesOfExperts(const std::vector<DraftAxis> &mesh);

/// Product of the sizes of the axes of a role.
int64_t shardsOfRole(const std::vector<DraftAxis> &mesh, AxisRole role);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_MESH_ROLES_H
