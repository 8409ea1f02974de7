//===- each_processor.h - functions for several processors ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_BASE_EACH_PROCESSOR_H
#define MESHPLAN_RUNTIME_BASE_EACH_PROCESSOR_H

/// Marks a function whose loops the compiler should vectorize. It is compiled once per instruction set and the variant
/// is chosen at run time, since a library does not know its processor. Functions that it calls must be inlined.
#if defined(__x86_64__) && defined(__clang__)
#define MESHPLAN_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#elif defined(__x86_64__) && defined(__GNUC__)
#define MESHPLAN_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define MESHPLAN_EACH_PROCESSOR
#endif

#endif // MESHPLAN_RUNTIME_BASE_EACH_PROCESSOR_H
