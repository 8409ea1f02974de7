//===- random_word.cpp - arc4random for LLVM's support library ------------===//
//
// LLVM names temporary files by arc4random, which glibc has since 2.36. With
// one of its own the program runs where glibc is older.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <random>

extern "C" uint32_t arc4random() noexcept { return std::random_device()(); }
