//===- problem.cpp - is a scheduling problem consistent? ------------------===//
//
// Rules have labels (K) that reappear in messages and tests.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using namespace meshplan::scheduling;
using llvm::createStringError;
using llvm::Error;
using llvm::Twine;

bool Communicator::overlaps(const Communicator &other) const {
  return llvm::any_of(axes, [&](const AxisRef &mine) {
    return llvm::any_of(other.axes, [&](const AxisRef &theirs) {
      // Digits of one axis are intervals of divisors, as in AxisRefAttr::overlaps.
      return mine.axis == theirs.axis && mine.pre < theirs.pre * theirs.size && theirs.pre < mine.pre * mine.size;
    });
  });
}

unsigned Problem::storageOf(unsigned buffer) const {
  while (buffers[buffer].viewOf)
    buffer = *buffers[buffer].viewOf;
  return buffer;
}

std::vector<std::optional<unsigned>> Problem::producers() const {
  std::vector<std::optional<unsigned>> result(buffers.size());
  for (auto [index, operation] : llvm::enumerate(operations))
    for (unsigned buffer : operation.produced)
      result[buffer] = index;
  return result;
}

/// K1: every index is in range.
static Error checkIndices(const Problem &problem) {
  auto check = [](unsigned index, size_t size, const Operation &operation, const char *table) -> Error {
    if (index < size)
      return Error::success();
    return createStringError("K1: operation '" + operation.name + "' names " + table + " " + Twine(index) + " of " +
                             Twine(size));
  };
  for (const Operation &operation : problem.operations) {
    if (Error error = check(operation.stream, problem.streams.size(), operation, "stream"))
      return error;
    if (operation.communicator)
      if (Error error = check(*operation.communicator, problem.communicators.size(), operation, "communicator"))
        return error;
    for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
      if (Error error = check(buffer, problem.buffers.size(), operation, "buffer"))
        return error;
    for (unsigned other : operation.after)
      if (Error error = check(other, problem.operations.size(), operation, "operation"))
        return error;
  }
  return Error::success();
}

/// K2: sizes are given for each rank class, and nothing is negative.
static Error checkSizes(const Problem &problem) {
  auto check = [&](const ClassBytes &bytes, const Twine &owner) -> Error {
    if (bytes.size() != problem.rankClasses)
      return createStringError("K2: " + owner + " has " + Twine(bytes.size()) + " sizes for " +
                               Twine(problem.rankClasses) + " rank classes");
    for (int64_t size : bytes)
      if (size < 0)
        return createStringError("K2: " + owner + " has the size " + Twine(size));
    return Error::success();
  };
  for (const Buffer &buffer : problem.buffers)
    if (Error error = check(buffer.bytes, "buffer '" + buffer.name + "'"))
      return error;
  if (!problem.handover.empty())
    if (Error error = check(problem.handover, "handover"))
      return error;
  for (const Operation &operation : problem.operations) {
    if (!operation.workspace.empty())
      if (Error error = check(operation.workspace, "workspace of operation '" + operation.name + "'"))
        return error;
    if (operation.duration < 0)
      return createStringError("K2: operation '" + operation.name + "' has the duration " + Twine(operation.duration));
  }
  return Error::success();
}

/// K3: a temporary has one producer, a permanent buffer none.
static Error checkProducers(const Problem &problem) {
  std::vector<const Operation *> producer(problem.buffers.size(), nullptr);
  for (const Operation &operation : problem.operations)
    for (unsigned index : operation.produced) {
      const Buffer &buffer = problem.buffers[index];
      if (buffer.permanent)
        return createStringError("K3: operation '" + operation.name + "' produces the permanent buffer '" +
                                 buffer.name + "'");
      if (producer[index])
        return createStringError("K3: buffer '" + buffer.name + "' is produced by '" + producer[index]->name +
                                 "' and by '" + operation.name + "'");
      producer[index] = &operation;
    }
  for (auto [buffer, operation] : llvm::zip_equal(problem.buffers, producer))
    if (!buffer.permanent && !operation)
      return createStringError("K3: buffer '" + buffer.name + "' is produced by no operation");
  return Error::success();
}

/// K4: an operation comes after everything that it depends on.
static Error checkOrder(const Problem &problem) {
  auto producers = problem.producers();
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    std::optional<unsigned> late;
    problem.forEachDependency(operation, producers, [&, position = index](unsigned other) {
      if (other >= position)
        late = other;
    });
    if (late)
      return createStringError("K4: operation '" + operation.name + "' comes before '" +
                               problem.operations[*late].name + "', on which it depends");
  }
  return Error::success();
}

/// K5: a view takes no bytes of its own. K6: its producer reads what it is a view of.
static Error checkViews(const Problem &problem) {
  for (const Operation &operation : problem.operations)
    for (unsigned index : operation.produced) {
      const Buffer &buffer = problem.buffers[index];
      if (!buffer.viewOf)
        continue;
      if (llvm::any_of(buffer.bytes, [](int64_t bytes) { return bytes != 0; }))
        return createStringError("K5: buffer '" + buffer.name + "' is a view and has bytes of its own");
      if (!llvm::is_contained(operation.consumed, *buffer.viewOf))
        return createStringError("K6: operation '" + operation.name + "' produces the view '" + buffer.name +
                                 "' of a buffer that it does not read");
    }
  for (const Buffer &buffer : problem.buffers)
    if (buffer.permanent && buffer.viewOf)
      return createStringError("K6: buffer '" + buffer.name + "' is permanent and a view");
  return Error::success();
}

/// True if the buffer is one of `made` or a view of one.
static bool isFrom(const Problem &problem, unsigned buffer, llvm::ArrayRef<unsigned> made) {
  for (std::optional<unsigned> own = buffer; own; own = problem.buffers[*own].viewOf)
    if (llvm::is_contained(made, *own))
      return true;
  return false;
}

/// K7: an operation reads what it overwrites, and comes after all others that read the old value.
static Error checkOverwriting(const Problem &problem) {
  std::vector<llvm::SmallVector<unsigned, 4>> readers(problem.buffers.size()); // of each storage
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (unsigned buffer : operation.consumed)
      readers[problem.storageOf(buffer)].push_back(index);
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (unsigned buffer : operation.overwritten) {
      if (!llvm::is_contained(operation.consumed, buffer))
        return createStringError("K7: operation '" + operation.name + "' overwrites a buffer that it does not read");
      unsigned storage = problem.storageOf(buffer);
      // A read of the storage sees the old value, unless it reads a result of this operation (or a view of one).
      auto readsOld = [&, &made = operation.produced](unsigned read) {
        return problem.storageOf(read) == storage && !isFrom(problem, read, made);
      };
      for (unsigned other : readers[storage])
        if (other != index && llvm::any_of(problem.operations[other].consumed, readsOld) &&
            !llvm::is_contained(operation.after, other))
          return createStringError("K7: operation '" + operation.name + "' overwrites buffer '" +
                                   problem.buffers[buffer].name + "' and does not come after '" +
                                   problem.operations[other].name + "', which reads it");
    }
  return Error::success();
}

/// K8: a copy serves one collective, and is none itself (see Copy).
static Error checkCopies(const Problem &problem) {
  auto producers = problem.producers();
  std::vector<llvm::SmallVector<unsigned, 1>> readers(problem.buffers.size());
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (unsigned buffer : operation.consumed)
      readers[buffer].push_back(index);
  auto serves = [&](const Operation &copy) {
    if (copy.isCollective() || copy.produced.empty() || copy.consumed.empty())
      return false;
    unsigned packed = copy.copy == Copy::pack ? copy.produced.front() : copy.consumed.front();
    if (readers[packed].size() != 1 || (copy.copy == Copy::pack && copy.produced.size() != 1))
      return false;
    std::optional<unsigned> served = copy.copy == Copy::pack ? readers[packed].front() : producers[packed];
    return served && problem.operations[*served].isCollective();
  };
  for (const Operation &operation : problem.operations)
    if (operation.copy != Copy::none && !serves(operation))
      return createStringError("K8: operation '" + operation.name + "' copies for no collective");
  return Error::success();
}

Error Problem::check() const {
  for (auto rule : {checkIndices, checkSizes, checkProducers, checkOrder, checkViews, checkOverwriting, checkCopies})
    if (Error error = rule(*this))
      return error;
  return Error::success();
}
