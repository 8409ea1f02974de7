//===- problem.cpp - is a scheduling problem consistent? ------------------===//
//
// Rules have labels (K) that reappear in messages and tests.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <utility>

using namespace meshplan;
using namespace meshplan::scheduling;
using llvm::createStringError;
using llvm::Error;
using llvm::Twine;

/// Half an hour, and an exabyte: products with them fit into 63 bits (see simulator.h).
static constexpr int64_t mostTime = 1'800'000'000'000, mostBytes = 1'000'000'000'000'000'000,
                         mostSharedRate = 1'000'000;

unsigned Problem::storageOf(unsigned buffer) const {
  while (buffers[buffer].viewOf)
    buffer = *buffers[buffer].viewOf;
  return buffer;
}

int64_t Problem::timeAlone(const Operation &operation) const {
  if (!isAsynchronous(operation))
    return operation.duration;
  int64_t slowest = 0;
  for (const Transfer &transfer : operation.transfers)
    slowest = std::max(slowest, timeOnLink(transfer.bytes, links[transfer.link].bytesPerSecond));
  return operation.latency + slowest;
}

std::vector<std::optional<unsigned>> Problem::producers() const {
  std::vector<std::optional<unsigned>> result(buffers.size());
  for (auto [index, operation] : llvm::enumerate(operations))
    for (unsigned buffer : operation.produced)
      result[buffer] = index;
  return result;
}

int64_t meshplan::scheduling::timeOnLink(int64_t bytes, int64_t bytesPerSecond) {
  return std::llround(static_cast<double>(bytes) * 1e9 / static_cast<double>(bytesPerSecond));
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
    if (Error error = check(operation.lane, problem.lanes.size(), operation, "lane"))
      return error;
    for (const Transfer &transfer : operation.transfers)
      if (Error error = check(transfer.link, problem.links.size(), operation, "link"))
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
    if (Error error = check(buffer.bytes, Twine("buffer '") + buffer.name + "'"))
      return error;
  for (auto [name, bytes] : {std::pair("handover", &problem.handover), {"memory limit", &problem.memoryLimit}})
    if (!bytes->empty())
      if (Error error = check(*bytes, name))
        return error;
  for (const Operation &operation : problem.operations)
    if (!operation.workspace.empty())
      if (Error error = check(operation.workspace, Twine("workspace of operation '") + operation.name + "'"))
        return error;
  return Error::success();
}

/// K2, of times and rates.
static Error checkTimes(const Problem &problem) {
  auto check = [](int64_t value, int64_t least, int64_t most, const Twine &owner) -> Error {
    if (value >= least && value <= most)
      return Error::success();
    return createStringError("K2: " + owner + " " + Twine(value) + ", must be " + Twine(least) + " to " + Twine(most));
  };
  for (const Link &link : problem.links)
    for (auto [name, value, most] :
         {std::tuple("the rate", link.bytesPerSecond, mostBytes), {"the shared rate", link.sharedRate, mostSharedRate}})
      if (Error error = check(value, 1, most, "link '" + link.name + "' has " + name))
        return error;
  for (auto [name, value, least, most] :
       {std::tuple("the time to issue is", problem.issueTime, int64_t(0), mostTime),
        {"the speed of overlapped computing is", problem.overlapSpeed.compute, 1, 1000},
        {"the speed of overlapped transfers is", problem.overlapSpeed.transfer, 1, 1000}})
    if (Error error = check(value, least, most, name))
      return error;
  for (const Operation &operation : problem.operations) {
    // Names are written out only for a message.
    auto checkOwn = [&](int64_t value, int64_t most, const char *name) {
      return check(value, 0, most, Twine("operation '") + operation.name + "' has " + name);
    };
    if (Error error = checkOwn(operation.duration, mostTime, "the duration"))
      return error;
    if (Error error = checkOwn(operation.latency, mostTime, "the latency"))
      return error;
    for (const Transfer &transfer : operation.transfers) {
      if (Error error = checkOwn(transfer.bytes, mostBytes, "a transfer of"))
        return error;
      if (Error error = checkOwn(timeOnLink(transfer.bytes, problem.links[transfer.link].bytesPerSecond), mostTime,
                                 "a transfer time of"))
        return error;
    }
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

/// K11: a copy serves one collective, and is none itself (see Copy). What joins parts serves no collective.
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
    if ((operation.copy == Copy::pack || operation.copy == Copy::unpack) && !serves(operation))
      return createStringError("K11: operation '" + operation.name + "' copies for no collective");
  return Error::success();
}

/// K8: there is one compute lane at most; a collective is on a lane of collectives, all collectives of a communicator
/// on the same one, and nothing else is on such a lane.
static Error checkLanes(const Problem &problem) {
  const Lane *compute = nullptr;
  for (const Lane &lane : problem.lanes) {
    if (lane.kind != LaneKind::compute)
      continue;
    if (compute)
      return createStringError("K8: lanes '" + compute->name + "' and '" + lane.name + "' both compute");
    compute = &lane;
  }
  std::vector<const Operation *> firsts(problem.communicators.size(), nullptr);
  for (const Operation &operation : problem.operations) {
    const Lane &lane = problem.lanes[operation.lane];
    if (operation.isCollective() != (lane.kind == LaneKind::collectives))
      return createStringError("K8: operation '" + operation.name + "' is " +
                               (operation.isCollective() ? "a collective" : "not a collective") + ", its lane '" +
                               lane.name + (operation.isCollective() ? "' is not" : "' is") + " one of collectives");
    if (!operation.isCollective())
      continue;
    const Operation *&first = firsts[*operation.communicator];
    if (first && first->lane != operation.lane)
      return createStringError("K8: '" + first->name + "' and '" + operation.name + "' are on lanes '" +
                               problem.lanes[first->lane].name + "' and '" + lane.name + "', both on communicator '" +
                               problem.communicators[*operation.communicator].name + "'");
    first = first ? first : &operation;
  }
  return Error::success();
}

/// K9: an operation of the compute lane has a duration; one of another lane has a latency and transfers.
static Error checkCosts(const Problem &problem) {
  for (const Operation &operation : problem.operations) {
    if (problem.isAsynchronous(operation) && operation.duration != 0)
      return createStringError("K9: operation '" + operation.name + "' is on lane '" +
                               problem.lanes[operation.lane].name + "' and has a duration, must have transfers");
    if (!problem.isAsynchronous(operation) && (operation.latency != 0 || !operation.transfers.empty()))
      return createStringError("K9: operation '" + operation.name +
                               "' computes and has a latency or transfers, must have a duration");
    if (!problem.isAsynchronous(operation) && !operation.instances.empty())
      return createStringError("K9: operation '" + operation.name + "' computes and takes part in '" +
                               operation.instances.front().name + "' of other coordinates");
  }
  return Error::success();
}

static bool haveSizes(const Problem &problem, llvm::ArrayRef<int64_t> bytes) {
  return bytes.size() == problem.rankClasses && llvm::all_of(bytes, [](int64_t each) { return each >= 0; });
}

/// K10: what may be merged is on one communicator, and in one list; nothing of it is between coordinates.
static Error checkMergeables(const Problem &problem) {
  std::vector<const Mergeable *> listOf(problem.operations.size(), nullptr);
  for (const Mergeable &mergeable : problem.mergeables) {
    const Operation *first = nullptr;
    auto refuse = [&](const Twine &why) {
      return createStringError("K10: '" + mergeable.name + "' may not merge " + why);
    };
    if (mergeable.leastCopyTime < 0 || mergeable.leastCopyTime > mostTime ||
        llvm::any_of(mergeable.once,
                     [&](Transfer each) { return each.link >= problem.links.size() || each.bytes < 0; }))
      return refuse("at negative costs, or over links that do not exist");
    for (const MergeMember &member : mergeable.members) {
      if (member.operation >= problem.operations.size())
        return refuse("operation " + Twine(member.operation) + " of " + Twine(problem.operations.size()));
      const Operation &operation = problem.operations[member.operation];
      first = first ? first : &operation;
      if (!operation.isCollective() || !operation.instances.empty())
        return refuse("'" + operation.name + "', which is not a collective of one coordinate");
      if (operation.communicator != first->communicator)
        return refuse("'" + first->name + "' and '" + operation.name + "', which are on different communicators");
      if (const Mergeable *&other = listOf[member.operation]; std::exchange(other, &mergeable))
        return refuse("'" + operation.name + "', which is merged in another list or twice");
      if (!operation.overwritten.empty())
        return refuse("'" + operation.name + "', which overwrites a buffer");
      if (member.bytes < 0 || member.packTime < 0 || member.packTime > mostTime || member.unpackTime < 0 ||
          member.unpackTime > mostTime)
        return refuse("'" + operation.name + "' at negative costs");
      for (auto sizes : {&MergeMember::sent, &MergeMember::received})
        if ((member.*sizes).empty() != (mergeable.members.front().*sizes).empty() ||
            (!(member.*sizes).empty() && !haveSizes(problem, member.*sizes)))
          return refuse("'" + first->name + "' and '" + operation.name +
                        "', which are copied with sizes for each rank class both, or not at all");
    }
  }
  return Error::success();
}

/// K12: each member has one result, which only its parts make; costs are possible; something can overlap.
static Error checkSplittables(const Problem &problem) {
  for (const Splittable &splittable : problem.splittables) {
    auto refuse = [&](const Twine &why) {
      return createStringError("K12: '" + splittable.name + "' may not split " + why);
    };
    if (splittable.parts < 2)
      return refuse("into " + Twine(splittable.parts) + " parts, only into two or more");
    bool computes = false, communicates = false;
    std::optional<unsigned> last;
    for (const SplitMember &member : splittable.members) {
      if (member.operation >= problem.operations.size() || (last && member.operation <= *last))
        return refuse("operation " + Twine(member.operation) + " of " + Twine(problem.operations.size()) +
                      ": members are in the order of the problem");
      last = member.operation;
      const Operation &operation = problem.operations[member.operation];
      (problem.isAsynchronous(operation) ? communicates : computes) = true;
      if (!operation.instances.empty() || operation.blocking || operation.prefetch)
        return refuse("'" + operation.name + "', which is of several coordinates, blocking or prefetched");
      if (operation.produced.size() != 1 || !operation.overwritten.empty() ||
          problem.buffers[operation.produced.front()].viewOf)
        return refuse("'" + operation.name + "', which must have one result of its own, and overwrite nothing");
      bool isLinked = llvm::all_of(member.transfers, [&](Transfer each) {
        return each.link < problem.links.size() && each.bytes >= 0 && each.bytes <= mostBytes;
      });
      for (int64_t time : {member.duration, member.latency, member.joinTime})
        if (time < 0 || time > mostTime || !isLinked)
          return refuse("'" + operation.name + "' at negative costs, or over links that do not exist");
      if (!haveSizes(problem, member.bytes) || (!member.workspace.empty() && !haveSizes(problem, member.workspace)))
        return refuse("'" + operation.name + "', whose parts must have a size for each rank class");
      if (!llvm::all_of(member.rows, [&](unsigned buffer) { return llvm::is_contained(operation.consumed, buffer); }))
        return refuse("'" + operation.name + "' by rows of a buffer that it does not read");
      bool isTransfer = member.latency != 0 || !member.transfers.empty();
      if (problem.isAsynchronous(operation) ? member.duration != 0 : isTransfer)
        return refuse("'" + operation.name + "', whose parts have the costs of another lane");
    }
    if (!computes || !communicates)
      return refuse("only computing or only what runs beside it, must split both");
  }
  return Error::success();
}

unsigned Problem::computeLane() const {
  return llvm::find_if(lanes, [](const Lane &lane) { return lane.kind == LaneKind::compute; }) - lanes.begin();
}

Error Problem::check() const {
  for (auto rule : {checkIndices, checkSizes, checkTimes, checkProducers, checkOrder, checkViews, checkOverwriting,
                    checkLanes, checkCosts, checkMergeables, checkCopies, checkSplittables})
    if (Error error = rule(*this))
      return error;
  return Error::success();
}
