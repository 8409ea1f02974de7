//===- agreement.cpp - all ranks started the same collective --------------===//
//
// The ranks compare their programs before they start, so a difference here is a defect. It is looked for at every
// collective all the same: descriptions are small, and the alternative is a hang, or elements that silently land in the
// wrong tensor.
//
// Example: in an all-to-all rank 0 sends 4 elements to rank 1, which expects 6. Without the comparison rank 1 waits for
// 2 elements that never come, and its time-out blames rank 0 for being late.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/agreement.h"

#include "runtime/base/names.h"

namespace meshplan {

namespace {

constexpr std::string_view reductionNames[] = {"sum", "max", "min"};

Status disagree(const Participant &a, const Participant &b, const auto &ofA, const auto &ofB) {
  return Status::error(StatusCode::invalid, "rank ", a.rank, " has ", ofA, ", rank ", b.rank, " has ", ofB);
}

bool isPair(CollectiveKind kind) { return kind == CollectiveKind::send || kind == CollectiveKind::receive; }

Status checkSameCall(const Participant &a, const Participant &b, std::string_view group) {
  const Collective &left = *a.collective, &right = *b.collective;
  bool sameKind = isPair(left.kind) ? isPair(right.kind) : left.kind == right.kind;
  if (!sameKind || left.label.sequence != right.label.sequence)
    return Status::error(StatusCode::invalid, "rank ", a.rank, " started ", describe(left, group), ", rank ", b.rank,
                         " started ", describe(right, group));
  if (left.dtype != right.dtype)
    return disagree(a, b, dtypeName(left.dtype), dtypeName(right.dtype));
  if (left.reduction != right.reduction)
    return disagree(a, b, reductionNames[static_cast<size_t>(left.reduction)],
                    reductionNames[static_cast<size_t>(right.reduction)]);
  return Status();
}

/// For the kinds in which all ranks pass the same counts.
Status checkSameNumbers(const Participant &a, const Participant &b) {
  const Collective &left = *a.collective, &right = *b.collective;
  if (left.kind == CollectiveKind::broadcast && left.peer != right.peer)
    return disagree(a, b, "root " + std::to_string(left.peer), "root " + std::to_string(right.peer));
  if (left.count != right.count)
    return disagree(a, b, std::to_string(left.count) + " elements", std::to_string(right.count) + " elements");
  if (left.sendCounts != right.sendCounts)
    return disagree(a, b, "counts " + shapeText(left.sendCounts), "counts " + shapeText(right.sendCounts));
  if (left.receiveCounts != right.receiveCounts)
    return disagree(a, b, "counts " + shapeText(left.receiveCounts), "counts " + shapeText(right.receiveCounts));
  return Status();
}

/// For the kinds in which each rank's send count must match the receiver's receive count.
Status checkPieces(const Participant &from, const Participant &to, int64_t groupSize) {
  int64_t sent = sentPiece(*from.collective, groupSize, from.index, to.index).count;
  int64_t expected = receivedPiece(*to.collective, to.index, from.index).count;
  if (sent == expected)
    return Status();
  return Status::error(StatusCode::invalid, "rank ", from.rank, " sends ", sent, " elements to rank ", to.rank,
                       ", which expects ", expected);
}

} // namespace

Status checkAgreement(std::span<const Participant> participants, std::string_view group) {
  const Participant &first = participants.front();
  CollectiveKind kind = first.collective->kind;
  // Equality carries over, so each is compared with the first one only.
  for (const Participant &other : participants.subspan(1))
    MESHPLAN_RETURN_IF_ERROR(checkSameCall(first, other, group));
  // For these kinds, each pair of ranks moves a piece of its own size. For the others, all ranks have the same counts.
  bool pieces = isPair(kind) || kind == CollectiveKind::allToAll || kind == CollectiveKind::permute;
  for (const Participant &from : participants) {
    if (!pieces)
      MESHPLAN_RETURN_IF_ERROR(checkSameNumbers(first, from));
    else
      for (const Participant &to : participants)
        MESHPLAN_RETURN_IF_ERROR(checkPieces(from, to, static_cast<int64_t>(participants.size())));
  }
  return Status();
}

} // namespace meshplan
