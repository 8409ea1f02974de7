//===- same_program.cpp - all ranks run the same program ------------------===//

#include "runtime/comm/communicator.h"

#include "runtime/base/hash.h"
#include "runtime/base/names.h"

namespace meshplan {

Status World::agree(std::span<const std::byte> hash) {
  MESHPLAN_ASSIGN_OR_RETURN(std::unique_ptr<Group> group, host().createWorldGroup("world"));

  // A digest has the same length on every rank, whatever length `hash` has.
  const Hash own = hashBytes(hash);
  std::vector<Hash> digests(size());
  const CollectiveLabel label{.sequence = -1, .origin = "comparing the programs of the ranks"};
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllGather(own.data(), digests.data(), own.size(), DType::u8, label)));
  std::vector<int64_t> differing;
  for (int64_t rank = 0; rank < size(); ++rank)
    if (digests[rank] != digests[0])
      differing.push_back(rank);
  if (differing.empty())
    return Status();
  // A rank that leaves now would abort the run while others still gather, and these could not report the difference.
  // The barrier lets all ranks see it first; how the barrier itself ends does not matter.
  (void)waitFor(group->startBarrier());
  auto shortHash = [&](int64_t rank) { return toHexadecimal(digests[rank]).substr(0, 8); };
  return Status::error(StatusCode::invalid, rankList(differing), differing.size() == 1 ? " runs" : " run",
                       " a different program than rank 0: hash ", shortHash(differing[0]), " of rank ", differing[0],
                       ", ", shortHash(0), " of rank 0; help: give all ranks the same schedule");
}

} // namespace meshplan
