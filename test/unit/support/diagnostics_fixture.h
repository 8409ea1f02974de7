//===- diagnostics_fixture.h - diagnostics of every form --------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SUPPORT_DIAGNOSTICS_FIXTURE_H
#define MESHPLAN_TEST_UNIT_SUPPORT_DIAGNOSTICS_FIXTURE_H

#include "compiler/support/diagnostics.h"

#include <gtest/gtest.h>

namespace meshplan {

/// Diagnostics whose text and JSON forms are tested.
class DiagnosticsTest : public testing::Test {
protected:
  /// An error with a note and help at locations in a plan, and a warning.
  void reportPlaces() {
    int32_t plan = sources.add("a.plan", "mesh dp = 2\nlm_head: colwise tq\n").file();
    diagnostics.error({plan, 2, 18, 20}, "unknown axis 'tq'")
        .note({plan, 1, 6, 8}, "the mesh has axis dp")
        .help("did you mean 'dp'?");
    diagnostics.warning({plan, 1, 1, 2}, "short");
  }

  /// An error about a file as a whole, and one without a file.
  void reportWithoutPlaces() {
    int32_t archive = sources.add("model.pt2").file();
    diagnostics.error({archive}, "truncated");
    diagnostics.error({}, "-D x=1: unknown");
  }

  Sources sources;
  Diagnostics diagnostics{sources};
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_SUPPORT_DIAGNOSTICS_FIXTURE_H
