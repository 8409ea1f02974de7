//===- random_word.cpp - arc4random for LLVM's support library ------------===//
//
// LLVM names temporary files with arc4random, which glibc has since version 2.36. With its own definition the program
// also runs with an older glibc.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <random>

extern "C" uint32_t arc4random() noexcept { return std::random_device()(); }
