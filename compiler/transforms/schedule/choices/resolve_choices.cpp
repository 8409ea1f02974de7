//===- resolve_choices.cpp - the projection of what was chosen ------------===//

#include "compiler/transforms/schedule/choices/resolve_choices.h"
#include "compiler/scheduling/choices.h"
#include "compiler/transforms/schedule/choices/merges.h"

using namespace mlir;

namespace meshplan {

static std::optional<Part> partOf(const ProjectedFunction &projection,
                                  const std::optional<scheduling::SplitPart> &split) {
  if (!split)
    return std::nullopt;
  return Part{split->part, projection.problem.splittables[split->splittable].parts,
              projection.rowDims[split->splittable][split->member]};
}

ProjectedFunction resolveChoices(const ProjectedFunction &projection, const scheduling::Choices &choices,
                                 const Cluster &cluster, LayoutTable &layouts) {
  scheduling::Resolution resolution = llvm::cantFail(scheduling::resolve(projection.problem, choices));
  ProjectedFunction resolved;
  resolved.problem = std::move(resolution.problem);
  resolved.buffers = projection.buffers;
  OperationCosts costs(cluster, layouts);
  resolved.buffers.resize(resolved.problem.buffers.size());
  for (auto [index, members] : llvm::enumerate(resolution.members)) {
    scheduling::Operation &operation = resolved.problem.operations[index];
    SmallVector<Operation *, 1> &ops = resolved.operations.emplace_back();
    for (unsigned member : members)
      llvm::append_range(ops, projection.operations[member]);
    if (members.size() > 1)
      setMergedCosts(operation, ops, projection.problem, costs, layouts);
    resolved.parts.push_back(partOf(projection, resolution.splits[index]));
    // A part is not a value of the function.
    if (resolved.parts.back() && resolved.parts.back()->index)
      resolved.buffers[operation.produced.front()] = Value();
  }
  return resolved;
}

} // namespace meshplan
