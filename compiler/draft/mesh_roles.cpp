//===- mesh_roles.cpp - what the axes of a drafted mesh are for -----------===//

#include "compiler/draft/mesh_roles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace meshplan;
using llvm::StringRef;

static std::optional<AxisRole> roleOf(StringRef name) {
  return llvm::StringSwitch<std::optional<AxisRole>>(name)
      .Cases({"dp", "data", "fsdp", "batch"}, AxisRole::data)
      .Cases({"tp", "model", "tensor", "mp"}, AxisRole::tensor)
      .Default(std::nullopt);
}

llvm::Expected<std::vector<DraftAxis>> meshplan::parseDraftMesh(StringRef text) {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  std::vector<DraftAxis> mesh;
  for (StringRef part : llvm::split(text, ',')) {
    auto [name, size] = part.split('=');
    name = name.trim();
    DraftAxis axis{name.str()};
    if (name.empty() || size.trim().getAsInteger(10, axis.size))
      return fail("'" + part.trim() + "' does not have the form AXIS=SIZE, as in dp=2,tp=3");
    if (axis.size < 1)
      return fail("the size of the axis '" + name + "' is " + llvm::Twine(axis.size) + ", at least 1 required");
    std::optional<AxisRole> role = roleOf(name);
    if (!role)
      return fail("the name '" + name +
                  "' does not tell what the axis splits: use dp, data, fsdp or batch for the batch, or tp, model, "
                  "tensor or mp for weights");
    if (llvm::any_of(mesh, [&](const DraftAxis &other) { return other.name == name; }))
      return fail("the axis '" + name + "' is repeated");
    axis.role = *role;
    mesh.push_back(std::move(axis));
  }
  return mesh;
}

static std::vector<std::string> namesOfRole(const std::vector<DraftAxis> &mesh, AxisRole role) {
  std::vector<std::string> names;
  for (const DraftAxis &axis : mesh)
    if (axis.role == role)
      names.push_back(axis.name);
  return names;
}

static std::string listOf(const std::vector<std::string> &names) {
  return names.size() > 1 ? "(" + llvm::join(names, ", ") + ")" : llvm::join(names, "");
}

std::string meshplan::axesOfRole(const std::vector<DraftAxis> &mesh, AxisRole role) {
  return listOf(namesOfRole(mesh, role));
}

std::string meshplan::axesOfExperts(const std::vector<DraftAxis> &mesh) {
  std::vector<std::string> names = namesOfRole(mesh, AxisRole::data);
  llvm::append_range(names, namesOfRole(mesh, AxisRole::tensor));
  return listOf(names);
}

int64_t meshplan::shardsOfRole(const std::vector<DraftAxis> &mesh, AxisRole role) {
  int64_t shards = 1;
  for (const DraftAxis &axis : mesh)
    shards *= axis.role == role ? axis.size : 1;
  return shards;
}
