//===- choices.cpp - applies the choices of a solution --------------------===//

#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/apply_splits.h"
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

static void sumInto(ClassBytes &sum, const ClassBytes &bytes) {
  sum.resize(std::max(sum.size(), bytes.size()), 0);
  for (auto [total, part] : llvm::zip(sum, bytes))
    total += part;
}

/// Adds `other` to a merged operation.
static void join(Operation &operation, const Operation &other) {
  operation.name += " + " + other.name;
  operation.latency = std::max(operation.latency, other.latency);
  for (const Transfer &transfer : other.transfers) {
    auto *found = llvm::find_if(operation.transfers, [&](const Transfer &each) { return each.link == transfer.link; });
    if (found == operation.transfers.end())
      operation.transfers.push_back(transfer);
    else
      found->bytes += transfer.bytes;
  }
  operation.consumed.append(other.consumed);
  operation.produced.append(other.produced);
  operation.after.append(other.after);
  sumInto(operation.workspace, other.workspace);
  operation.blocking |= other.blocking;
}

namespace {
/// Members of one Mergeable that become one operation.
struct MergedMembers {
  const Mergeable *mergeable;
  std::vector<const MergeMember *> members;

  /// The sum over all members; empty if they have none.
  ClassBytes sum(ClassBytes MergeMember::*bytes) const {
    ClassBytes total;
    for (const MergeMember *member : members)
      sumInto(total, member->*bytes);
    return total;
  }
  int64_t timeOfCopy(int64_t MergeMember::*time) const {
    int64_t total = 0;
    for (const MergeMember *member : members)
      total += member->*time;
    return std::max(total, mergeable->leastCopyTime);
  }
};

/// The new problem, operation by operation.
class Merger {
public:
  Merger(const Problem &problem, Resolution &result) : problem(problem), result(result) {}

  void add(llvm::ArrayRef<unsigned> part, const MergedMembers *merged);

private:
  unsigned addBuffer(const char *name, const Operation &collective, ClassBytes bytes);
  void addOperation(llvm::ArrayRef<unsigned> part, Operation operation) {
    result.members.push_back(part.vec());
    result.problem.operations.push_back(std::move(operation));
  }

  const Problem &problem;
  Resolution &result;
};
} // namespace

unsigned Merger::addBuffer(const char *name, const Operation &collective, ClassBytes bytes) {
  Buffer buffer;
  buffer.name = name + (" of " + collective.name);
  buffer.bytes = std::move(bytes);
  buffer.memory = problem.buffers[collective.produced.front()].memory;
  result.problem.buffers.push_back(std::move(buffer));
  return result.problem.buffers.size() - 1;
}

/// Copies are operations of their own, as they are in the problem of collectives that are merged from the beginning.
void Merger::add(llvm::ArrayRef<unsigned> part, const MergedMembers *merged) {
  Operation collective = problem.operations[part.front()];
  for (unsigned index : part.drop_front())
    join(collective, problem.operations[index]);
  if (!merged)
    return addOperation(part, std::move(collective));
  for (const Transfer &once : merged->mergeable->once)
    for (Transfer &transfer : collective.transfers)
      if (transfer.link == once.link)
        transfer.bytes -= std::min(transfer.bytes, static_cast<int64_t>(part.size() - 1) * once.bytes);
  Operation copy;
  copy.lane = problem.computeLane();
  copy.memory = problem.buffers[collective.produced.front()].memory;
  if (ClassBytes sent = merged->sum(&MergeMember::sent); !sent.empty()) {
    Operation pack = copy;
    pack.name = "pack " + collective.name;
    pack.copy = Copy::pack;
    pack.duration = merged->timeOfCopy(&MergeMember::packTime);
    pack.consumed = std::exchange(collective.consumed, {});
    collective.consumed = {addBuffer("sent", collective, std::move(sent))};
    pack.produced.assign(collective.consumed.begin(), collective.consumed.end());
    addOperation(part, std::move(pack));
  }
  ClassBytes received = merged->sum(&MergeMember::received);
  if (received.empty())
    return addOperation(part, std::move(collective));
  Operation unpack = copy;
  unpack.name = "unpack " + collective.name;
  unpack.copy = Copy::unpack;
  unpack.duration = merged->timeOfCopy(&MergeMember::unpackTime);
  unsigned buffer = addBuffer("received", collective, std::move(received));
  unpack.consumed = {buffer};
  unpack.produced = std::exchange(collective.produced, {buffer});
  addOperation(part, std::move(collective));
  addOperation(part, std::move(unpack));
}

/// The members of a Mergeable that are in a list; fails unless the whole list is there and keeps to the limit.
static Expected<MergedMembers> membersOf(const Problem &problem, llvm::ArrayRef<unsigned> merged) {
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
    return MergedMembers{&mergeable, std::move(found)};
  }
  return refuse("'" + namesOf(problem, merged) + "' are not members of anything that may be merged");
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
    // A merged operation has the position of its last member: all that it depends on comes before.
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

/// Operations that come after a merged one come after the reads of its inputs, which its first copy may do, and after
/// its last copy.
static void renumberAfter(Operation &operation, llvm::ArrayRef<unsigned> partOf,
                          llvm::ArrayRef<std::pair<unsigned, unsigned>> operationsOf) {
  llvm::SmallVector<unsigned, 1> after;
  for (unsigned other : operation.after)
    for (unsigned each : {operationsOf[partOf[other]].first, operationsOf[partOf[other]].second})
      if (!llvm::is_contained(after, each))
        after.push_back(each);
  operation.after = std::move(after);
}

/// Applies the merges.
static Expected<Resolution> merge(const Problem &problem, llvm::ArrayRef<Members> merged) {
  Resolution result;
  result.problem = problem;
  result.problem.mergeables.clear();
  if (merged.empty()) {
    for (unsigned index = 0; index < problem.operations.size(); ++index)
      result.members.push_back({index});
    return result;
  }
  std::vector<MergedMembers> members;
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
  std::vector<const MergedMembers *> mergedOf(parts->size(), nullptr);
  for (const MergedMembers &each : members)
    mergedOf[partOf[each.members.front()->operation]] = &each;
  Expected<std::vector<unsigned>> order = orderOf(problem, *parts, partOf);
  if (!order)
    return order.takeError();

  result.problem.operations.clear();
  Merger merger(problem, result);
  std::vector<std::pair<unsigned, unsigned>> operationsOf(parts->size()); // the first and the last
  for (unsigned part : *order) {
    operationsOf[part].first = result.problem.operations.size();
    merger.add((*parts)[part], mergedOf[part]);
    operationsOf[part].second = result.problem.operations.size() - 1;
  }
  for (Operation &operation : result.problem.operations)
    renumberAfter(operation, partOf, operationsOf);
  return result;
}

Expected<Resolution> meshplan::scheduling::resolve(const Problem &problem, const Choices &choices) {
  Expected<Resolution> result = merge(problem, choices.merged);
  if (!result)
    return result.takeError();
  result->splits.assign(result->problem.operations.size(), std::nullopt);
  result->problem.splittables.clear();
  if (choices.split.empty())
    return result;
  return applySplits(problem, std::move(*result), choices.split);
}
