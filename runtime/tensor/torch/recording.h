//===- recording.h - operators that autograd records ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_RECORDING_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_RECORDING_H

#include <ATen/ATen.h>
#include <c10/core/AutogradState.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace meshplan {

/// Undoes a ComputeScope, so that operators of this thread are recorded. Views are recorded too; otherwise in-place
/// changes of an operator's operands would have no gradient. The backward pass stays on this thread even for devices,
/// because autograd has one thread per device, which all ranks of the process would share.
struct RecordingScope {
  RecordingScope()
      : keys(c10::impl::tls_local_dispatch_key_set().included_,
             c10::impl::tls_local_dispatch_key_set().excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }

  c10::InferenceMode recording{false};
  c10::impl::ForceDispatchKeyGuard keys;
};

/// A gradient of autograd with elements in memory. The gradient of sgn is a zero tensor without elements.
inline at::Tensor withElements(at::Tensor gradient) {
  return gradient.defined() && gradient._is_zerotensor() ? at::zeros(gradient.sizes(), gradient.options()) : gradient;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_RECORDING_H
