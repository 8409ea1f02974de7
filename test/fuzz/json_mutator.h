//===- json_mutator.h - another JSON text of the same kind -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_FUZZ_JSON_MUTATOR_H
#define MESHPLAN_TEST_FUZZ_JSON_MUTATOR_H

#include <string>

namespace meshplan::fuzz {

/// Changes one value of the text: to a border case, to another value of the text, to one that is nested deeply, or
/// leaves it out or doubles it. Changes bytes where the text is no JSON.
std::string mutateJson(const std::string &text, unsigned int seed);

} // namespace meshplan::fuzz

#endif // MESHPLAN_TEST_FUZZ_JSON_MUTATOR_H
