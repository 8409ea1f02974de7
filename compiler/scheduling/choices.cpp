//===- choices.cpp - applies the choices of a solution --------------------===//

#include "compiler/scheduling/choices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <queue>

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

using Members = std::vector<unsigned>;

static Error refuse(const Twine &message) { return llvm::createStringError("V10: " + message); }

static std::string namesOf(const Problem &problem, llvm::ArrayRef<unsigned> operations) {
  return llvm::join(llvm::map_range(operations, [&](unsigned index) { return problem.operations[index].name; }), " + ");
}

/// The members of a Mergeable that are in a list; fails unless the whole list is there and keeps to the limit.
static Expected<std::vector<const MergeMember *>> membersOf(const Problem &problem, llvm::ArrayRef<unsigned> merged) {
  if (merged.size() < 2 || !llvm::all_of(merged, [&](unsigned index) { return index < problem.operations.size(); }))
    return refuse("a list of merged operations has " + Twine(merged.size()) +
                  " of the problem's operations, must have two or more");
  for (const Mergeable &mergeable : problem.mergeables) {
    std::vector<const MergeMember *> found;
    for (const MergeMember &member : mergeable.members)
      if (llvm::is_contained(merged, member.operation))
        found.push_back(&member);
    if (found.empty())
      continue;
    if (found.size() != merged.size())
      return refuse("'" + namesOf(problem, merged) + "' are not all members of '" + mergeable.name + "'");
    int64_t bytes = 0;
    for (const MergeMember *member : found)
      bytes += member->bytes;
    if (mergeable.mostBytes != 0 && bytes > mergeable.mostBytes)
      return refuse("'" + namesOf(problem, merged) + "' have " + Twine(bytes) + " bytes, the limit of '" +
                    mergeable.name + "' is " + Twine(mergeable.mostBytes));
    return found;
  }
  return refuse("'" + namesOf(problem, merged) + "' are not members of anything that may be merged");
}

static void sumInto(ClassBytes &sum, const ClassBytes &bytes) {
  sum.resize(std::max(sum.size(), bytes.size()), 0);
  for (auto [total, part] : llvm::zip(sum, bytes))
    total += part;
}

/// Adds `other` to a merged operation.
static void join(Operation &operation, const Operation &other) {
  operation.name += " + " + other.name;
  operation.latency = std::max(operation.latency, other.latency);
  operation.cores = std::max(operation.cores, other.cores);
  for (const Transfer &transfer : other.transfers) {
    auto *found = llvm::find_if(operation.transfers, [&](const Transfer &each) { return each.link == transfer.link; });
    if (found == operation.transfers.end())
      operation.transfers.push_back(transfer);
    else
      found->bytes += transfer.bytes;
  }
  operation.consumed.append(other.consumed);
  operation.produced.append(other.produced);
  operation.overwritten.append(other.overwritten);
  operation.after.append(other.after);
  sumInto(operation.workspace, other.workspace);
  operation.blocking |= other.blocking;
}

/// The operations that become one, for each operation of the new problem, before these are in order.
static Expected<std::vector<Members>> partition(const Problem &problem, llvm::ArrayRef<Members> merged) {
  std::vector<const Members *> listOf(problem.operations.size(), nullptr);
  for (const Members &list : merged)
    for (unsigned index : list) {
      if (listOf[index])
        return refuse("'" + problem.operations[index].name + "' is merged twice");
      listOf[index] = &list;
    }
  std::vector<Members> parts;
  for (unsigned index = 0; index < problem.operations.size(); ++index)
    // A merged operation stands where its last member stood: all that it depends on comes before.
    if (!listOf[index])
      parts.push_back({index});
    else if (*llvm::max_element(*listOf[index]) == index)
      parts.push_back(*listOf[index]);
  return parts;
}

/// An order of the parts in which each comes after what it depends on, as close to theirs as possible.
static Expected<std::vector<unsigned>> orderOf(const Problem &problem, llvm::ArrayRef<Members> parts,
                                               llvm::ArrayRef<unsigned> partOf) {
  std::vector<std::vector<unsigned>> next(parts.size());
  std::vector<unsigned> before(parts.size(), 0);
  auto producers = problem.producers();
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    problem.forEachDependency(operation, producers, [&, part = partOf[index]](unsigned other) {
      next[partOf[other]].push_back(part);
      ++before[part];
    });
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned part = 0; part < parts.size(); ++part)
    if (before[part] == 0)
      ready.push(part);
  std::vector<unsigned> order;
  while (!ready.empty()) {
    unsigned part = ready.top();
    ready.pop();
    order.push_back(part);
    for (unsigned other : next[part])
      if (--before[other] == 0)
        ready.push(other);
  }
  if (order.size() == parts.size())
    return order;
  for (unsigned part = 0; part < parts.size(); ++part)
    if (before[part] != 0 && parts[part].size() > 1)
      return refuse("'" + namesOf(problem, parts[part]) + "' depend on each other, or on what depends on them");
  llvm_unreachable("an unmerged problem has an order");
}

Expected<Resolution> meshplan::scheduling::resolve(const Problem &problem, llvm::ArrayRef<Members> merged) {
  std::vector<std::vector<const MergeMember *>> members;
  for (const Members &list : merged) {
    auto found = membersOf(problem, list);
    if (!found)
      return found.takeError();
    members.push_back(std::move(*found));
  }
  Expected<std::vector<Members>> parts = partition(problem, merged);
  if (!parts)
    return parts.takeError();
  std::vector<unsigned> partOf(problem.operations.size());
  for (auto [part, list] : llvm::enumerate(*parts))
    for (unsigned index : list)
      partOf[index] = part;
  Expected<std::vector<unsigned>> order = orderOf(problem, *parts, partOf);
  if (!order)
    return order.takeError();

  Resolution result;
  result.problem = problem;
  result.problem.operations.clear();
  result.problem.mergeables.clear();
  std::vector<unsigned> positionOf(parts->size());
  for (auto [position, part] : llvm::enumerate(*order)) {
    positionOf[part] = position;
    result.members.push_back((*parts)[part]);
    Operation operation = problem.operations[result.members.back().front()];
    for (unsigned index : llvm::drop_begin(result.members.back()))
      join(operation, problem.operations[index]);
    result.problem.operations.push_back(std::move(operation));
  }
  for (llvm::ArrayRef<const MergeMember *> list : members)
    for (const MergeMember *member : list) {
      Operation &operation = result.problem.operations[positionOf[partOf[member->operation]]];
      operation.latency += member->packTime;
      sumInto(operation.workspace, member->packBytes);
    }
  for (Operation &operation : result.problem.operations)
    for (unsigned &other : operation.after)
      other = positionOf[partOf[other]];
  return result;
}
