//===- guard.cpp - LibTorch's exceptions as Status ------------------------===//

#include "runtime/tensor/torch/guard.h"

#include <c10/util/Exception.h>
#include <new>

using namespace meshplan;

Status meshplan::currentExceptionStatus() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError &error) {
    return Status::error(StatusCode::outOfMemory, "out of memory: ", error.what_without_backtrace());
  } catch (const c10::NotImplementedError &error) {
    // Before c10::Error, of which it is a kind: HostCall recognizes a missing kernel by this code.
    return Status(StatusCode::unsupported, error.what_without_backtrace());
  } catch (const c10::Error &error) {
    return Status(StatusCode::invalid, error.what_without_backtrace());
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::outOfMemory, "out of memory");
  } catch (const std::exception &error) {
    return Status(StatusCode::invalid, error.what());
  } catch (...) {
    return Status(StatusCode::internal, "an exception of unknown type");
  }
}
