//===- zip_mutator.h - another zip file of the same kind --------*- C++ -*-===//

#ifndef MESHPLAN_TEST_FUZZ_ZIP_MUTATOR_H
#define MESHPLAN_TEST_FUZZ_ZIP_MUTATOR_H

#include <cstddef>
#include <cstdint>

namespace meshplan::fuzz {

/// For LLVMFuzzerCustomMutator. Changes one member of the archive (JSON as JSON) and updates sizes and checksums, so
/// that the change is not refused because of them; sometimes changes the bytes of the archive itself.
size_t mutateZip(uint8_t *data, size_t size, size_t maxSize, unsigned int seed);

} // namespace meshplan::fuzz

#endif // MESHPLAN_TEST_FUZZ_ZIP_MUTATOR_H
