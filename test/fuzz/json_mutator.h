//===- json_mutator.h - another JSON text of the same kind ------*- C++ -*-===//

#ifndef MESHPLAN_TEST_FUZZ_JSON_MUTATOR_H
#define MESHPLAN_TEST_FUZZ_JSON_MUTATOR_H

#include <string>

namespace meshplan::fuzz {

/// Changes one value of the text: to a border case, another value of the text, a deeply nested one, or by removing or
/// duplicating it. Changes bytes if the text is not JSON.
std::string mutateJson(const std::string &text, unsigned int seed);

} // namespace meshplan::fuzz

#endif // MESHPLAN_TEST_FUZZ_JSON_MUTATOR_H
