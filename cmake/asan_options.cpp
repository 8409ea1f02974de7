//===- asan_options.cpp - defaults of the address sanitizer ---------------===//
//
// LLVM's allocators poison memory through their headers, which are compiled with the sanitizer here, and give it free
// in their libraries, which are not: poison that users of the sanitizer set is ignored.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }
