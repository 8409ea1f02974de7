//===- style_names.cpp - the parallel styles of Hugging Face --------------===//

#include "compiler/adopt/style_names.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using Meaning = ForeignStyle::Meaning;

static constexpr llvm::StringRef sums = "sums results over ranks", own = "runs on the parameters of the rank",
                                 gradients = "sums gradients over ranks", byExpert = "distributes experts over ranks",
                                 routes = "tells each rank the tokens of its experts";

static constexpr ForeignStyle styles[] = {
    {"colwise", Meaning::colwise},
    {"rowwise", Meaning::rowwise},
    {"colwise_rep", Meaning::colwise, /*gathersOutput=*/true},
    {"colwise_gather_output", Meaning::colwise, /*gathersOutput=*/true},
    {"rowwise_rep", Meaning::rowwise},
    {"rowwise_split_input", Meaning::rowwise},
    {"local_colwise", Meaning::colwise},
    {"local_rowwise", Meaning::rowwise},
    {"packed_colwise", Meaning::packedColwise},
    {"local_packed_colwise", Meaning::packedColwise},
    {"packed_rowwise", Meaning::packedRowwise},
    {"local_packed_rowwise", Meaning::packedRowwise},
    {"embedding_rowwise", Meaning::rowwise},
    {"embedding_colwise", Meaning::featuresOfRows, /*gathersOutput=*/true},
    {"sequence_parallel", Meaning::sequence},
    {"replicate", Meaning::replicate},
    {"replicated_with_grad_allreduce", Meaning::replicate},
    {"replicate_with_grad_allreduce", Meaning::replicate},
    {"mla_kv_a_proj", Meaning::replicate},
    {"gather", Meaning::nothing, false, sums, /*takesWhole=*/true},
    {"all_reduce", Meaning::nothing, false, sums},
    {"moe_tp_experts", Meaning::nothing, false, sums, /*takesWhole=*/true},
    {"moe_identity_expert", Meaning::nothing, false, "keeps a replicated value from being summed over ranks"},
    {"local", Meaning::nothing, false, own},
    {"isolated", Meaning::nothing, false, own},
    {"local_params", Meaning::nothing, false, own},
    {"all_reduce_backward", Meaning::nothing, false, gradients},
    {"grouped_gemm", Meaning::experts, false, byExpert},
    {"ep_dispatch_experts", Meaning::experts, false, "sends tokens to the ranks of their experts", /*takesWhole=*/true},
    {"ep_router", Meaning::experts, false, routes},
    {"megamoe_experts", Meaning::experts, false, byExpert},
    {"megamoe_router", Meaning::experts, false, routes},
};

const ForeignStyle *meshplan::findForeignStyle(llvm::StringRef name) {
  auto found = llvm::find_if(styles, [&](const ForeignStyle &style) { return style.name == name; });
  return found == std::end(styles) ? nullptr : &*found;
}

const std::vector<std::string> &meshplan::foreignStyleNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ForeignStyle &style : styles)
      all.push_back(style.name.str());
    return all;
  }();
  return names;
}
