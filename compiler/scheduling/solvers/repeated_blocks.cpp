//===- repeated_blocks.cpp - what repeats in an order ---------------------===//

#include "compiler/scheduling/solvers/repeated_blocks.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace meshplan::scheduling;

std::vector<unsigned> meshplan::scheduling::kindsOf(const Problem &problem) {
  std::map<std::vector<int64_t>, unsigned> kinds;
  std::vector<unsigned> result;
  for (const Operation &operation : problem.operations) {
    std::vector<int64_t> key = {operation.lane, operation.duration, operation.latency, operation.blocking,
                                operation.communicator ? int64_t(*operation.communicator) : -1};
    auto append = [&](auto &&numbers) {
      key.push_back(-1); // between lists of any length
      key.insert(key.end(), numbers.begin(), numbers.end());
    };
    for (const Transfer &transfer : operation.transfers)
      append(std::vector<int64_t>{transfer.link, transfer.bytes});
    append(operation.workspace);
    for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
      append(problem.buffers[buffer].bytes);
    key.push_back(operation.consumed.size());
    result.push_back(kinds.try_emplace(std::move(key), kinds.size()).first->second);
  }
  return result;
}

/// The period with which most of what comes next repeats, and how far it does; 0 if nothing repeats.
static std::pair<size_t, size_t> longestRun(llvm::ArrayRef<unsigned> kinds, size_t mostPeriod) {
  std::pair<size_t, size_t> best = {0, 0};
  for (size_t period = 2; period <= mostPeriod && 2 * period <= kinds.size(); ++period) {
    size_t equal = 0;
    while (period + equal < kinds.size() && kinds[equal] == kinds[period + equal])
      ++equal;
    if (equal >= period && period + equal > best.second)
      best = {period, period + equal};
  }
  return best;
}

std::vector<Block> meshplan::scheduling::repeatedBlocks(llvm::ArrayRef<unsigned> kinds, size_t mostSize,
                                                        size_t mostPeriod) {
  std::vector<Block> blocks;
  auto add = [&](size_t begin, size_t end) {
    size_t parts = (end - begin + mostSize - 1) / mostSize;
    for (size_t part = 0; part < parts; ++part)
      blocks.push_back({begin + (end - begin) * part / parts, begin + (end - begin) * (part + 1) / parts});
  };
  size_t begin = 0, done = 0; // what is before `begin` and not yet in a block is irregular
  while (begin < kinds.size()) {
    auto [period, length] = longestRun(kinds.drop_front(begin), mostPeriod);
    if (period == 0) {
      ++begin;
      continue;
    }
    add(done, begin);
    for (; length >= period; length -= period, begin += period)
      add(begin, begin + period);
    done = begin;
  }
  add(done, kinds.size());
  return blocks;
}
