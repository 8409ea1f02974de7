//===- reference_memory.cpp - what may be issued early --------------------===//

#include "compiler/scheduling/solvers/reference_memory.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

static void add(ClassBytes &sum, const ClassBytes &bytes, int64_t sign = 1) {
  for (auto [total, part] : llvm::zip_equal(sum, bytes))
    total += sign * part;
}

ReferenceMemory::ReferenceMemory(const Problem &problem, MemoryTracker &memory, llvm::ArrayRef<unsigned> reference)
    : problem(problem), memory(memory), reference(reference), positionOf(reference.size()),
      issuedAs(reference.size(), none), early(problem.rankClasses, 0), answers(reference.size()) {
  held.reserve(reference.size());
  timedUntil.reserve(reference.size());
  unsigned timed = 0;
  MemoryTracker::Mark mark = memory.mark();
  for (auto [position, operation] : llvm::enumerate(reference)) {
    positionOf[operation] = position;
    timedUntil.push_back(timed);
    timed += problem.timeAlone(problem.operations[operation]) != 0;
    memory.begin(operation);
    held.push_back(memory.bytesHeld());
    memory.end(operation);
  }
  memory.undo(mark);
}

/// If true, the rest of the reference fits after the operation; if false, it may fit as well.
bool ReferenceMemory::surelyFits(unsigned operation) const {
  size_t own = positionOf[operation];
  ClassBytes more = early;
  add(more, memory.bytesMade(operation));
  for (size_t position = front, end = endWith(operation); position < end; ++position) {
    if (position == own || isIssued(position)) {
      if (position == own || issuedAs[reference[position]] >= known)
        add(more, memory.bytesMade(reference[position]), -1);
      continue;
    }
    for (size_t rankClass = 0; rankClass < more.size(); ++rankClass)
      if (held[position][rankClass] + more[rankClass] > problem.memoryLimit[rankClass])
        return false;
  }
  return true;
}

/// True if the rest of the reference fits into memory after the operation and everything in flight is over.
bool ReferenceMemory::walk(unsigned operation, llvm::ArrayRef<unsigned> inFlight) {
  MemoryTracker::Mark mark = memory.mark();
  memory.begin(operation);
  memory.end(operation);
  for (unsigned other : inFlight)
    memory.end(other);
  // After the last issued operation of the reference, memory is what the reference has there.
  size_t end = endWith(operation);
  walked.resize(end - front);
  walkedWith = operation;
  for (size_t position = front; position < end && walkedWith; ++position) {
    unsigned next = reference[position];
    if (next == operation || isIssued(position))
      continue;
    if (!memory.fits(next))
      walkedWith.reset();
    memory.begin(next);
    walked[position - front] = memory.bytesHeld();
    memory.end(next);
  }
  memory.undo(mark);
  return walkedWith.has_value();
}

bool ReferenceMemory::allows(unsigned operation, llvm::ArrayRef<unsigned> inFlight) {
  if (timedUntil[positionOf[operation]] > timedUntil[front] + mostAhead())
    return false;
  Answer &answer = answers[operation];
  // Operations end, but all are over where the rest of the reference is considered: only another issue changes it.
  if (answer.issued != issued)
    answer = {issued, surelyFits(operation) || walk(operation, inFlight)};
  return answer.isAllowed;
}

void ReferenceMemory::issue(unsigned operation) {
  size_t end = endWith(operation);
  issuedAs[operation] = issued++;
  add(early, memory.bytesMade(operation));
  reached = end;
  if (walkedWith == operation) {
    for (size_t position = front; position < end; ++position)
      if (!isIssued(position))
        held[position] = std::move(walked[position - front]);
    known = issued;
    early.assign(early.size(), 0);
  }
  walkedWith.reset();
  for (; front < reference.size() && isIssued(front); ++front)
    if (issuedAs[reference[front]] >= known)
      add(early, memory.bytesMade(reference[front]), -1);
}
