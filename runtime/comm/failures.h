//===- failures.h - messages about lost peers -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_FAILURES_H
#define MESHPLAN_RUNTIME_COMM_FAILURES_H

#include "runtime/base/status.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace meshplan {

/// `what` is rank and collective: "rank 0: all-reduce 12 on 'tp'". `missing` are the ranks that have not started it;
/// `silent` are those of them that were asked whether they are alive and did not answer.
Status timeoutFailure(const std::string &what, std::chrono::milliseconds limit, std::span<const int64_t> missing,
                      std::span<const int64_t> silent = {});

/// All ranks have started it, but no data to or from `missing` has moved for `limit`.
Status stalledFailure(const std::string &what, std::chrono::milliseconds limit, std::span<const int64_t> missing,
                      std::span<const int64_t> silent = {});

/// The run ended because of `cause` before the collective was done.
Status abortedFailure(const std::string &what, std::span<const int64_t> missing, const Status &cause);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_FAILURES_H
