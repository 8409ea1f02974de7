//===- merges.cpp - which collectives are merged --------------------------===//
//
// A problem has the costs of a merge as sums over its members, which is what solvers compare. The times of what they
// choose are those of the whole collective, as of one that was coalesced before.

#include "compiler/transforms/schedule/choices/merges.h"
#include "compiler/transforms/schedule/instances.h"
#include "dialect/plan/attributes.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using meshplan::scheduling::ClassBytes;
using meshplan::scheduling::Mergeable;
using meshplan::scheduling::MergeMember;

namespace meshplan {

namespace {
class Merges {
public:
  Merges(const ProjectedFunction &projection, const Cluster &cluster, LayoutTable &layouts)
      : projection(projection), problem(projection.problem), layouts(layouts), costs(cluster, layouts) {}

  std::vector<Mergeable> find(func::FuncOp function);

private:
  bool isAlone(unsigned index) const;
  MergeMember memberOf(unsigned index);
  int64_t timeToCopy(ArrayRef<int64_t> bytes) const;
  SmallVector<scheduling::Transfer, 1> onceOf(ArrayRef<MergeMember> members);

  const ProjectedFunction &projection;
  const scheduling::Problem &problem;
  LayoutTable &layouts;
  OperationCosts costs;
};
} // namespace

bool Merges::isAlone(unsigned index) const {
  const scheduling::Operation &operation = problem.operations[index];
  return !operation.isCollective() || projection.operations[index].size() != 1 || !operation.overwritten.empty() ||
         !projection.buffers[operation.consumed.front()] || !projection.buffers[operation.produced.front()];
}

/// The time that grows with the size: a small copy takes as long as a launch, which is Mergeable::leastCopyTime.
int64_t Merges::timeToCopy(ArrayRef<int64_t> bytes) const {
  constexpr int64_t large = int64_t(1) << 40;
  double perByte = static_cast<double>(costs.timeOfCopy(large)) / static_cast<double>(large);
  return std::llround(static_cast<double>(*llvm::max_element(bytes)) * perByte);
}

MergeMember Merges::memberOf(unsigned index) {
  Operation *op = projection.operations[index].front();
  MergeMember member;
  member.operation = index;
  member.sent = layouts.get(op->getOperand(0).getType()).bytes;
  member.received = layouts.get(op->getResult(0).getType()).bytes;
  // The larger side is the size of the coalesced buffer.
  member.bytes = std::max(*llvm::max_element(member.sent), *llvm::max_element(member.received));
  member.packTime = timeToCopy(member.sent);
  member.unpackTime = timeToCopy(member.received);
  return member;
}

/// What two collectives of the mean size take longer than one that moves the bytes of both.
SmallVector<scheduling::Transfer, 1> Merges::onceOf(ArrayRef<MergeMember> members) {
  double bytes = 0;
  for (const MergeMember &member : members)
    bytes += sentBytesOf(projection.operations[member.operation]) / static_cast<double>(members.size());
  scheduling::Operation one = problem.operations[members.front().operation], both = one;
  base::CollectiveKind kind = *plan::collectiveKindOf(projection.operations[members.front().operation].front());
  costs.setCollective(one, kind, bytes, problem.communicators);
  costs.setCollective(both, kind, 2 * bytes, problem.communicators);
  scheduling::Transfer once = one.transfers.front();
  once.bytes = std::max<int64_t>(0, 2 * once.bytes - both.transfers.front().bytes);
  return {once};
}

std::vector<Mergeable> Merges::find(func::FuncOp function) {
  scheduling::OccurrenceTable occurrences = occurrencesIn(function, projection);
  llvm::MapVector<std::pair<int64_t, scheduling::Occurrence>, Mergeable> sets; // by set and instances
  for (unsigned index = 0; index < problem.operations.size(); ++index) {
    auto allowed = plan::opAttr<plan::attr::Mergeable>(projection.operations[index].front());
    if (!allowed || isAlone(index))
      continue;
    Mergeable &set = sets[{allowed.getSet(), occurrences.of(index)}];
    set.mostBytes = allowed.getMost();
    set.members.push_back(memberOf(index));
  }
  std::vector<Mergeable> mergeables;
  for (auto &[key, set] : sets) {
    if (set.members.size() < 2)
      continue;
    constexpr StringRef instances[] = {" of the first instance", "", " of the last instance"};
    set.name = ("set " + Twine(key.first) + instances[static_cast<size_t>(key.second)]).str();
    set.leastCopyTime = costs.timeOfCopy(1);
    set.once = onceOf(set.members);
    mergeables.push_back(std::move(set));
  }
  return mergeables;
}

void setMergedCosts(scheduling::Operation &operation, ArrayRef<Operation *> ops, const scheduling::Problem &problem,
                    OperationCosts &costs, LayoutTable &layouts) {
  if (operation.isCollective())
    return costs.setCollective(operation, *plan::collectiveKindOf(ops.front()), sentBytesOf(ops),
                               problem.communicators);
  operation.duration = 0;
  bool packs = operation.copy == scheduling::Copy::pack;
  for (unsigned rankClass = 0; rankClass < problem.rankClasses; ++rankClass) {
    int64_t bytes = 0;
    for (Operation *op : ops)
      bytes += layouts.get((packs ? op->getOperand(0) : op->getResult(0)).getType()).bytes[rankClass];
    operation.duration = std::max(operation.duration, costs.timeOfCopy(bytes));
  }
}

void addMergeables(func::FuncOp function, ProjectedFunction &projection, const Cluster &cluster, LayoutTable &layouts) {
  projection.problem.mergeables = Merges(projection, cluster, layouts).find(function);
}

} // namespace meshplan
