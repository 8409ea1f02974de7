//===- agreement.h - all ranks started the same collective ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_AGREEMENT_H
#define MESHPLAN_RUNTIME_COMM_AGREEMENT_H

#include "runtime/comm/collective.h"

namespace meshplan {

/// One rank's part in a collective.
struct Participant {
  int64_t rank;  ///< in the world, for messages
  int64_t index; ///< in the group
  const Collective *collective;
};

/// `invalid`, with both ranks and both values, unless all participants started the same collective with matching sizes.
/// Precondition: each of them has passed checkCollective.
Status checkAgreement(std::span<const Participant> participants, std::string_view group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_AGREEMENT_H
