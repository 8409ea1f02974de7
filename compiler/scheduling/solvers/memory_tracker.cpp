//===- memory_tracker.cpp - device memory, step by step -------------------===//

#include "compiler/scheduling/solvers/memory_tracker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace meshplan::scheduling;

static void addBytes(ClassBytes &sum, const ClassBytes &bytes, int64_t sign = 1) {
  for (auto [total, part] : llvm::zip(sum, bytes))
    total += sign * part;
}

MemoryTracker::MemoryTracker(const Problem &problem) : problem(problem), held(problem.rankClasses, 0) {
  if (!isLimited())
    return;
  usesLeft.resize(problem.buffers.size(), 0);
  sharers.resize(problem.buffers.size(), 0);
  for (const Buffer &buffer : problem.buffers)
    if (buffer.permanent && buffer.memory == Memory::device)
      addBytes(held, buffer.bytes);
  needs.reserve(problem.operations.size());
  for (const Operation &operation : problem.operations) {
    needs.push_back(needOf(operation));
    for (unsigned buffer : needs.back().used)
      ++usesLeft[buffer];
  }
}

MemoryTracker::Need MemoryTracker::needOf(const Operation &operation) const {
  Need need;
  ClassBytes none(problem.rankClasses, 0);
  need.afterwards = none;
  for (unsigned buffer : operation.produced) {
    if (problem.buffers[buffer].memory == Memory::device)
      addBytes(need.afterwards, problem.buffers[buffer].bytes);
    need.storages.push_back(problem.storageOf(buffer));
  }
  need.atBegin = need.afterwards;
  if (operation.memory == Memory::device)
    addBytes(need.atBegin, operation.workspace);
  llvm::SmallSetVector<unsigned, 8> used;
  for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
    if (!problem.buffers[buffer].permanent && !problem.buffers[buffer].kept)
      used.insert(buffer);
  need.used.assign(used.begin(), used.end());
  return need;
}

bool MemoryTracker::fits(const ClassBytes &added) const {
  for (auto [own, more, limit] : llvm::zip_equal(held, added, problem.memoryLimit))
    if (own + more > limit)
      return false;
  return true;
}

void MemoryTracker::begin(unsigned operation) {
  if (!isLimited())
    return;
  addBytes(held, needs[operation].atBegin);
  for (unsigned storage : needs[operation].storages)
    change(sharers[storage], 1);
}

void MemoryTracker::end(unsigned operation) {
  if (!isLimited())
    return;
  const Need &need = needs[operation];
  addBytes(held, need.atBegin, -1);
  addBytes(held, need.afterwards);
  for (unsigned buffer : need.used) {
    change(usesLeft[buffer], -1);
    if (usesLeft[buffer] != 0)
      continue;
    unsigned storage = problem.storageOf(buffer);
    change(sharers[storage], -1);
    const Buffer &owner = problem.buffers[storage];
    if (sharers[storage] == 0 && !owner.permanent && owner.memory == Memory::device)
      addBytes(held, owner.bytes, -1);
  }
}

bool MemoryTracker::releases(unsigned operation) const {
  const Need &need = needs[operation];
  return need.atBegin != need.afterwards ||
         llvm::any_of(need.used, [&](unsigned buffer) { return usesLeft[buffer] == 1; });
}

int64_t MemoryTracker::growth(unsigned operation) const {
  if (!isLimited())
    return 0;
  ClassBytes sum = needs[operation].afterwards;
  for (unsigned buffer : needs[operation].used) {
    unsigned storage = problem.storageOf(buffer);
    const Buffer &owner = problem.buffers[storage];
    bool isProduced = llvm::is_contained(problem.operations[operation].produced, buffer);
    if (usesLeft[buffer] == 1 && sharers[storage] + isProduced == 1 && !owner.permanent &&
        owner.memory == Memory::device)
      addBytes(sum, owner.bytes, -1);
  }
  return *llvm::max_element(sum);
}

bool MemoryTracker::fitsAtEnd() const { return !isLimited() || problem.handover.empty() || fits(problem.handover); }

void MemoryTracker::undo(const Mark &mark) {
  while (journal.size() > mark.changes) {
    *journal.back().counter += journal.back().difference;
    journal.pop_back();
  }
  held = mark.held;
}
