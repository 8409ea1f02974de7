//===- each_processor.h - a function for several processors ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_BASE_EACH_PROCESSOR_H
#define MESHPLAN_RUNTIME_BASE_EACH_PROCESSOR_H

/// Before a function whose loops the compiler is to make vector instructions of. Several kinds of them are made, since
/// a library does not know the processor that it runs on. Functions that it calls have to be inlined.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MESHPLAN_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define MESHPLAN_EACH_PROCESSOR
#endif

#endif // MESHPLAN_RUNTIME_BASE_EACH_PROCESSOR_H
