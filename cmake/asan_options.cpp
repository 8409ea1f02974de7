//===- asan_options.cpp - defaults of the address sanitizer ---------------===//
//
// LLVM's allocators poison memory in headers, which are compiled with the sanitizer here, and unpoison it in libraries,
// which are not. User poisoning is therefore switched off.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }
