//===- apply_splits.cpp - operations as parts -----------------------------===//
//
// Example, with two parts: a product reads x and makes y, a collective reads y and makes z, which others read.
//
//   product: x -> y          product 1 of 2:    x -> y      product 2 of 2:    x -> y 2
//   collective: y -> z       collective 1 of 2: y -> z 1    collective 2 of 2: y 2 -> z 2
//                            join: z 1, z 2 -> z
//
// The buffer y has the size of a part, because no operation needs it whole.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/apply_splits.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

static Error refuseSplit(const Twine &message) { return llvm::createStringError("V11: " + message); }

namespace {
/// An operation of the merged problem that is split.
struct SplitOperation {
  const Splittable *splittable = nullptr; ///< null if it is not split
  unsigned splittableIndex = 0, memberIndex = 0;

  const SplitMember &member() const { return splittable->members[memberIndex]; }
};

class Splitter {
public:
  explicit Splitter(Resolution merged) : before(std::move(merged)), splits(before.problem.operations.size()) {}

  Error choose(const Problem &problem, llvm::ArrayRef<unsigned> split);
  Resolution apply();

private:
  void findBuffers();
  void addParts(unsigned index);
  unsigned addBuffer(unsigned whole, unsigned part);
  unsigned addView(unsigned index, unsigned part, unsigned whole);
  void add(unsigned index, std::optional<unsigned> part, Operation operation);

  Resolution before;
  std::vector<SplitOperation> splits;
  std::vector<std::optional<unsigned>> producers; ///< of the buffers of the merged problem
  std::vector<bool> isReadWhole;                  ///< by buffer of the merged problem
  std::vector<llvm::SmallVector<unsigned>> parts; ///< of each buffer; empty if it is not split
  /// The operations that replace each one of the merged problem.
  std::vector<llvm::SmallVector<unsigned>> operationsOf;
  Resolution result;
};
} // namespace

Error Splitter::choose(const Problem &problem, llvm::ArrayRef<unsigned> split) {
  std::vector<std::optional<unsigned>> alone(problem.operations.size());
  for (auto [index, members] : llvm::enumerate(before.members))
    if (members.size() == 1)
      alone[members.front()] = index;
  for (unsigned chosen : split) {
    if (chosen >= problem.splittables.size())
      return refuseSplit("there is no split " + Twine(chosen) + ", only " + Twine(problem.splittables.size()));
    const Splittable &splittable = problem.splittables[chosen];
    for (auto [memberIndex, member] : llvm::enumerate(splittable.members)) {
      const std::string &name = problem.operations[member.operation].name;
      if (!alone[member.operation])
        return refuseSplit("'" + name + "' of '" + splittable.name + "' is merged, and cannot be split too");
      SplitOperation &operation = splits[*alone[member.operation]];
      if (operation.splittable)
        return refuseSplit("'" + name + "' is split by '" + operation.splittable->name + "' and by '" +
                           splittable.name + "', can be split once");
      operation = {&splittable, chosen, static_cast<unsigned>(memberIndex)};
    }
  }
  return Error::success();
}

/// Which results exist only in parts: those that only the parts of other members read.
void Splitter::findBuffers() {
  const Problem &problem = before.problem;
  isReadWhole.assign(problem.buffers.size(), false);
  parts.resize(problem.buffers.size());
  producers = problem.producers();
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    if (buffer.kept)
      isReadWhole[index] = true;
    if (buffer.viewOf)
      isReadWhole[*buffer.viewOf] = true;
  }
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (unsigned buffer : operation.consumed)
      if (producers[buffer] && splits[*producers[buffer]].splittable != splits[index].splittable)
        isReadWhole[buffer] = true;
}

unsigned Splitter::addBuffer(unsigned whole, unsigned part) {
  if (part == 0 && !isReadWhole[whole])
    return whole;
  Buffer buffer = result.problem.buffers[whole];
  buffer.name += " part " + std::to_string(part + 1);
  buffer.kept = false;
  result.problem.buffers.push_back(std::move(buffer));
  return result.problem.buffers.size() - 1;
}

/// Adds a view of the rows that a part reads.
unsigned Splitter::addView(unsigned index, unsigned part, unsigned whole) {
  unsigned view = result.problem.buffers.size();
  Buffer buffer;
  buffer.name = result.problem.buffers[whole].name + " rows " + std::to_string(view);
  buffer.bytes.assign(result.problem.rankClasses, 0);
  buffer.viewOf = whole;
  buffer.memory = result.problem.buffers[whole].memory;
  result.problem.buffers.push_back(std::move(buffer));
  Operation operation;
  operation.name = "rows " + std::to_string(part + 1) + " for " + before.problem.operations[index].name;
  operation.lane = before.problem.computeLane();
  operation.copy = Copy::rows;
  operation.memory = result.problem.buffers[whole].memory;
  operation.consumed = {whole};
  operation.produced = {view};
  add(index, part, std::move(operation));
  return view;
}

void Splitter::add(unsigned index, std::optional<unsigned> part, Operation operation) {
  operationsOf[index].push_back(result.problem.operations.size());
  result.problem.operations.push_back(std::move(operation));
  result.members.push_back(before.members[index]);
  const SplitOperation &split = splits[index];
  result.splits.push_back(split.splittable ? std::optional(SplitPart{split.splittableIndex, split.memberIndex, part})
                                           : std::nullopt);
}

void Splitter::addParts(unsigned index) {
  const Operation &whole = before.problem.operations[index];
  const SplitMember &member = splits[index].member();
  unsigned count = splits[index].splittable->parts, produced = whole.produced.front();
  for (unsigned part = 0; part < count; ++part) {
    Operation operation = whole;
    operation.name += " " + std::to_string(part + 1) + " of " + std::to_string(count);
    operation.duration = member.duration;
    operation.latency = member.latency;
    operation.transfers = member.transfers;
    operation.workspace = member.workspace;
    for (unsigned &buffer : operation.consumed)
      if (!parts[buffer].empty() && splits[*producers[buffer]].splittable == splits[index].splittable)
        buffer = parts[buffer][part];
      else if (llvm::is_contained(member.rows, buffer))
        buffer = addView(index, part, buffer);
    unsigned own = addBuffer(produced, part);
    result.problem.buffers[own].bytes = member.bytes;
    parts[produced].push_back(own);
    operation.produced = {own};
    add(index, part, std::move(operation));
  }
  if (!isReadWhole[produced])
    return;
  Operation join;
  join.name = "join " + whole.name;
  join.lane = before.problem.computeLane();
  join.copy = Copy::join;
  join.duration = member.joinTime;
  join.memory = whole.memory;
  join.consumed.assign(parts[produced].begin(), parts[produced].end());
  join.produced = {produced};
  add(index, std::nullopt, std::move(join));
}

Resolution Splitter::apply() {
  findBuffers();
  result.problem = before.problem;
  result.problem.operations.clear();
  operationsOf.resize(before.problem.operations.size());
  for (unsigned index = 0; index < before.problem.operations.size(); ++index)
    if (splits[index].splittable)
      addParts(index);
    else
      add(index, std::nullopt, before.problem.operations[index]);
  for (Operation &operation : result.problem.operations) {
    llvm::SmallVector<unsigned, 1> after;
    for (unsigned other : operation.after)
      llvm::append_range(after, operationsOf[other]);
    operation.after = std::move(after);
  }
  return std::move(result);
}

Expected<Resolution> meshplan::scheduling::applySplits(const Problem &problem, Resolution merged,
                                                       llvm::ArrayRef<unsigned> split) {
  Splitter splitter(std::move(merged));
  if (Error error = splitter.choose(problem, split))
    return error;
  return splitter.apply();
}
