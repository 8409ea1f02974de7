//===- policies.cpp - autocast policies of operators ----------------------===//
//
// A name stands for all overloads. test/harness/tables/tests/autocast_lists_test.py
// compares the lists with those that PyTorch registers.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/autocast/policies.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace meshplan;

// PyTorch's lists.

static constexpr StringLiteral narrowOnBoth =
    "_convolution addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d "
    "conv_transpose3d linalg_vecdot linear matmul mm prelu scaled_dot_product_attention";
static constexpr StringLiteral narrowOnCpu = "_addmm_activation _native_multi_head_attention mkldnn_rnn_layer";
static constexpr StringLiteral narrowOnCuda =
    "_cudnn_rnn _scaled_dot_product_flash_attention _thnn_fused_gru_cell _thnn_fused_lstm_cell addmv addr "
    "chain_matmul convolution cudnn_convolution cudnn_convolution_transpose einsum gru_cell linalg_multi_dot "
    "lstm_cell mv rnn_relu_cell rnn_tanh_cell";
static constexpr StringLiteral wideOnBoth =
    "binary_cross_entropy_with_logits cdist cosine_embedding_loss hinge_embedding_loss huber_loss kl_div "
    "l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d "
    "poisson_nll_loss prod smooth_l1_loss soft_margin_loss triplet_margin_loss";
static constexpr StringLiteral wideOnCpu =
    "_grid_sampler_2d_cpu_fallback _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d "
    "binary_cross_entropy cholesky cholesky_inverse cholesky_solve cross_entropy_loss ctc_loss "
    "fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn "
    "fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d "
    "fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d inverse linalg_cholesky "
    "linalg_cholesky_ex linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh "
    "linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_qr "
    "linalg_solve linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve max_pool3d "
    "max_unpool2d max_unpool3d multilabel_margin_loss_forward nanquantile orgqr ormqr pinverse polar qr "
    "quantile reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d stft "
    "svd trace triangular_solve view_as_complex";
static constexpr StringLiteral wideOnCuda =
    "_upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d acos asin cosh cosine_similarity cumprod cumsum dist erfinv exp expm1 "
    "frobenius_norm group_norm layer_norm linalg_matrix_norm linalg_vector_norm log log10 log1p log2 "
    "log_softmax logsumexp native_layer_norm norm nuclear_norm pdist pow reciprocal renorm rsqrt sinh softmax "
    "softplus sum tan upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d "
    "upsample_nearest2d upsample_nearest3d upsample_trilinear3d";
static constexpr StringLiteral widestOnCpu = "cat index_copy stack";
static constexpr StringLiteral widestOnCuda =
    "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot";
static constexpr StringLiteral bannedOnCuda = "binary_cross_entropy";

// Operators into which PyTorch decomposes operators of these lists, and operators that decompose into them.

static constexpr StringLiteral narrowPartsOnBoth =
    "_prelu_kernel _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention_for_cpu inner lstm";
static constexpr StringLiteral narrowPartsOnCpu =
    "_scaled_dot_product_flash_attention chain_matmul convolution einsum linalg_multi_dot tensordot";
static constexpr StringLiteral narrowPartsOnCuda = "gru rnn_relu rnn_tanh";
static constexpr StringLiteral widePartsOnBoth = "nll_loss2d_forward nll_loss_forward nll_loss_nd";
static constexpr StringLiteral widePartsOnCuda = "_log_softmax _softmax cross_entropy_loss native_group_norm";

// Operators that are in no list.

/// Their kernels accept tensors of several types.
static constexpr StringLiteral mixing =
    "add addcdiv addcmul atan2 bitwise_and broadcast_tensors cat clamp clamp_max clamp_min copy copysign div "
    "eq floor_divide fmax fmin fmod ge gt hypot index_fill le logical_and logical_or logical_xor lt "
    "masked_fill maximum minimum mul ne outer pow remainder rsub select_scatter slice_scatter stack sub where "
    "xlogy";
/// They compute with f32 statistics and weights beside a 16-bit input.
static constexpr StringLiteral norms =
    "_fused_rms_norm _native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
    "batch_norm group_norm "
    "instance_norm layer_norm native_batch_norm native_group_norm native_layer_norm rms_norm";

namespace {

/// Operators of one policy, separated by spaces.
struct PolicyList {
  StringRef cpu, cuda;
  CastPolicy policy;
};

} // namespace

/// The first list that contains an operator decides.
static const PolicyList lists[] = {
    {narrowOnBoth, narrowOnBoth, CastPolicy::narrow},
    {narrowOnCpu, narrowOnCuda, CastPolicy::narrow},
    {narrowPartsOnBoth, narrowPartsOnBoth, CastPolicy::narrow},
    {narrowPartsOnCpu, narrowPartsOnCuda, CastPolicy::narrow},
    {wideOnBoth, wideOnBoth, CastPolicy::wide},
    {wideOnCpu, wideOnCuda, CastPolicy::wide},
    {widePartsOnBoth, widePartsOnBoth, CastPolicy::wide},
    {"", widePartsOnCuda, CastPolicy::wide},
    {widestOnCpu, widestOnCuda, CastPolicy::widest},
    {"", bannedOnCuda, CastPolicy::banned},
    {mixing, mixing, CastPolicy::none},
    {norms, norms, CastPolicy::ofSelf},
};

static llvm::StringMap<CastPolicy> policiesOf(StringRef PolicyList::*device) {
  llvm::StringMap<CastPolicy> policies;
  for (const PolicyList &list : lists) {
    SmallVector<StringRef> names;
    (list.*device).split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef name : names)
      policies.try_emplace(name, list.policy);
  }
  return policies;
}

/// The name in PyTorch's lists: `pow` for `aten.pow.Tensor_Scalar`.
static StringRef nameOf(StringRef target) { return target.split('.').second.split('.').first; }

/// In PyTorch `pad` is a different operator for each mode. For CPUs those that repeat elements are in the list.
static bool padsWide(const CallView &call, AutocastDevice device) {
  auto mode = dyn_cast_or_null<StringAttr>(call.get("mode"));
  return device == AutocastDevice::cpu && call.target == "aten.pad.default" && mode &&
         (mode.getValue() == "reflect" || mode.getValue() == "replicate");
}

CastPolicy meshplan::castPolicyOf(const CallView &call, AutocastDevice device) {
  static const llvm::StringMap<CastPolicy> cpu = policiesOf(&PolicyList::cpu), cuda = policiesOf(&PolicyList::cuda);
  const llvm::StringMap<CastPolicy> &policies = device == AutocastDevice::cpu ? cpu : cuda;
  auto found = policies.find(nameOf(call.target));
  if (found == policies.end())
    return padsWide(call, device) ? CastPolicy::wide : CastPolicy::widest;
  // An explicit dtype takes precedence: softmax(x, dtype=float64) computes in f64 on its own, and a conversion to f32
  // before would lose digits.
  bool isTold = found->second == CastPolicy::wide && isa_and_present<TypeAttr>(call.get("dtype"));
  return isTold ? CastPolicy::none : found->second;
}

bool meshplan::isLogSoftmax(StringRef target) {
  return target == "aten.log_softmax.int" || target == "aten._log_softmax.default";
}
