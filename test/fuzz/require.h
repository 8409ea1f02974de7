//===- require.h - conditions for any input ---------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_FUZZ_REQUIRE_H
#define MESHPLAN_TEST_FUZZ_REQUIRE_H

#include <cstdio>
#include <cstdlib>

namespace meshplan {

/// Ends the run, as a sanitizer would, unless `holds` is true; `what` describes the violated condition.
inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

} // namespace meshplan

#endif // MESHPLAN_TEST_FUZZ_REQUIRE_H
