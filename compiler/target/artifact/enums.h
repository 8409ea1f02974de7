//===- enums.h - enums of the dialects as those of the artifact -*- C++ -*-===//
//
// Conversions are only here. An enum of the artifact has the cases of that of the dialect, with the same names and
// numbers: the static assertions compare the numbers of cases, and enums_test.cpp the names.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ENUMS_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ENUMS_H

#include "dialect/sched/sched.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

static_assert(base::getMaxEnumValForReduction() == static_cast<unsigned>(artifact::Reduction::MAX));
inline artifact::Reduction toArtifact(base::Reduction reduction) { return static_cast<artifact::Reduction>(reduction); }

static_assert(base::getMaxEnumValForProgramRole() == static_cast<unsigned>(artifact::ProgramRole::MAX));
inline artifact::ProgramRole toArtifact(base::ProgramRole role) { return static_cast<artifact::ProgramRole>(role); }

static_assert(base::getMaxEnumValForWhen() == static_cast<unsigned>(artifact::When::MAX));
inline artifact::When toArtifact(base::When when) { return static_cast<artifact::When>(when); }

static_assert(base::getMaxEnumValForDirection() == static_cast<unsigned>(artifact::Direction::MAX));
inline artifact::Direction toArtifact(base::Direction direction) { return static_cast<artifact::Direction>(direction); }

static_assert(base::getMaxEnumValForPurpose() == static_cast<unsigned>(artifact::Purpose::MAX));
inline artifact::Purpose toArtifact(base::Purpose purpose) { return static_cast<artifact::Purpose>(purpose); }

static_assert(base::getMaxEnumValForRoutedKind() == static_cast<unsigned>(artifact::RoutedKind::MAX));
inline artifact::RoutedKind toArtifact(base::RoutedKind kind) { return static_cast<artifact::RoutedKind>(kind); }

static_assert(base::getMaxEnumValForInitKind() == static_cast<unsigned>(artifact::InitKind::MAX));
inline artifact::InitKind toArtifact(base::InitKind kind) { return static_cast<artifact::InitKind>(kind); }

static_assert(base::getMaxEnumValForRateKind() == static_cast<unsigned>(artifact::RateKind::MAX));
inline artifact::RateKind toArtifact(base::RateKind kind) { return static_cast<artifact::RateKind>(kind); }

static_assert(base::getMaxEnumValForCollectiveKind() == static_cast<unsigned>(artifact::CollectiveKind::MAX));
inline artifact::CollectiveKind toArtifact(base::CollectiveKind kind) {
  return static_cast<artifact::CollectiveKind>(kind);
}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ENUMS_H
