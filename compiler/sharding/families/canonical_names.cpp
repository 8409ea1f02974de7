//===- canonical_names.cpp - operators with several names in PyTorch ------===//
//
// Records, derivatives and compositions are written for one name of each operator. Two kinds of rewrites lead to it:
// names that are mere synonyms (plainName), and operators that are special cases of others, whose arguments are
// computed from the static shapes (Renaming).

#include "compiler/sharding/families/canonical_names.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;

/// The common name of an operator with the same overloads and arguments, or nothing.
static StringRef plainName(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("multiply", "mul")
      .Cases({"divide", "true_divide"}, "div")
      .Case("subtract", "sub")
      .Case("negative", "neg")
      .Case("absolute", "abs")
      .Case("positive", "alias")
      .Case("clip", "clamp")
      .Case("detach_", "detach")
      .Case("fix", "trunc")
      .Case("greater", "gt")
      .Case("greater_equal", "ge")
      .Case("less", "lt")
      .Case("less_equal", "le")
      .Case("not_equal", "ne")
      .Case("arcsin", "asin")
      .Case("arccos", "acos")
      .Case("arctan", "atan")
      .Case("arctan2", "atan2")
      .Case("arcsinh", "asinh")
      .Case("arccosh", "acosh")
      .Case("arctanh", "atanh")
      .Case("special_expit", "sigmoid")
      .Case("special_logit", "logit")
      .Case("special_erf", "erf")
      .Case("special_erfc", "erfc")
      .Case("special_erfinv", "erfinv")
      .Case("special_exp2", "exp2")
      .Case("special_expm1", "expm1")
      .Case("special_log1p", "log1p")
      .Case("special_sinc", "sinc")
      .Case("special_gammaln", "lgamma")
      .Cases({"special_digamma", "special_psi"}, "digamma")
      .Case("special_logsumexp", "logsumexp")
      .Case("ger", "outer")
      .Case("broadcast_to", "expand")
      .Cases({"concat", "concatenate"}, "cat")
      .Case("unsafe_chunk", "chunk")
      .Case("unsafe_split_with_sizes", "split_with_sizes")
      // Where the result is never overwritten, a copy may as well be a view.
      .Case("alias_copy", "alias")
      .Case("diagonal_copy", "diagonal")
      .Case("expand_copy", "expand")
      .Case("permute_copy", "permute")
      .Case("select_copy", "select")
      .Case("slice_copy", "slice")
      .Cases({"split_copy", "unsafe_split"}, "split")
      .Case("split_with_sizes_copy", "split_with_sizes")
      .Case("squeeze_copy", "squeeze")
      .Case("t_copy", "t")
      .Case("transpose_copy", "transpose")
      .Case("unbind_copy", "unbind")
      .Case("unfold_copy", "unfold")
      .Case("unsqueeze_copy", "unsqueeze")
      .Case("view_copy", "view")
      .Default("");
}

namespace {

/// Rewrites one call to other arguments.
class Renaming {
public:
  explicit Renaming(const CallView &call) : call(call), builder(call.args.getContext()) {}

  std::optional<CallRewrite> find(StringRef name) const;

private:
  using Arguments = std::initializer_list<std::pair<StringRef, Attribute>>;

  std::optional<CallRewrite> changed(StringRef target, Arguments arguments) const;
  Attribute integer(int64_t value) const { return intLiteral(builder.getContext(), value); }

  std::optional<CallRewrite> asTranspose(StringRef name) const;
  SmallVector<int64_t> dimsOf(StringRef name, int64_t rank) const;
  std::optional<CallRewrite> asPermute() const;
  std::optional<CallRewrite> withSizes(StringRef target, StringRef name) const;
  std::optional<CallRewrite> asSlice() const;
  std::optional<CallRewrite> asRepeat() const;
  bool isReal() const;
  std::optional<CallRewrite> asTensorSplit(StringRef name) const;
  std::optional<CallRewrite> asDiagonal(StringRef name) const;
  std::optional<CallRewrite> asCorrection(StringRef name) const;

  const CallView &call;
  mutable Builder builder;
};

} // namespace

std::optional<CallRewrite> Renaming::find(StringRef name) const {
  if (call.results.empty())
    return std::nullopt;
  if (name == "swapaxes" || name == "swapdims" || name == "mT")
    return asTranspose(name);
  if (name == "movedim" || name == "moveaxis")
    return asPermute();
  if (name == "expand_as")
    return withSizes("aten.expand.default", "size");
  if (name == "view_as" || name == "reshape_as" || name == "ravel")
    return withSizes("aten.reshape.default", "shape");
  if ((name == "narrow" || name == "narrow_copy") && call.target.ends_with(".default"))
    return asSlice();
  if (name == "tile")
    return asRepeat();
  if (name == "fliplr" || name == "flipud")
    return changed("aten.flip.default", {{"dims", builder.getI64ArrayAttr({name == "fliplr" ? 1 : 0})}});
  if (name == "hsplit" || name == "vsplit" || name == "dsplit")
    return asTensorSplit(name);
  if (name == "diag" || name == "linalg_diagonal")
    return asDiagonal(name);
  if (isReal() && call.results.front().getRank() >= 2 && (name == "mH" || name == "adjoint" || name == "matrix_H"))
    return asTranspose("mT");
  if (isReal() && (name == "resolve_conj" || name == "resolve_neg" || name == "real" || name == "conj" ||
                   name == "conj_physical" || name == "_conj"))
    return changed("aten.alias.default", {});
  bool isSpread = name == "std" || name == "var" || name == "std_mean" || name == "var_mean";
  return isSpread && !call.target.ends_with(".correction") ? asCorrection(name) : std::nullopt;
}

/// A call of `target` with `self` and these arguments, which replace all others.
std::optional<CallRewrite> Renaming::changed(StringRef target, Arguments arguments) const {
  std::optional<unsigned> self = call.getOperand("self");
  if (!self)
    return std::nullopt;
  NamedAttrList args;
  args.set("self", plan::OperandRefAttr::get(builder.getContext(), 0));
  for (auto [name, value] : arguments)
    args.set(name, value);
  return CallRewrite{target.str(), args.getDictionary(builder.getContext()), {*self}};
}

std::optional<CallRewrite> Renaming::asTranspose(StringRef name) const {
  bool isAxes = name == "swapaxes", isMatrix = name == "mT";
  int64_t first = isMatrix ? -2 : call.getInt(isAxes ? "axis0" : "dim0", 0);
  int64_t second = isMatrix ? -1 : call.getInt(isAxes ? "axis1" : "dim1", 0);
  return changed("aten.transpose.int", {{"dim0", integer(first)}, {"dim1", integer(second)}});
}

/// One dim or several, as indices from 0; empty if one of them is invalid.
SmallVector<int64_t> Renaming::dimsOf(StringRef name, int64_t rank) const {
  SmallVector<int64_t> dims = call.getInts(name).value_or(SmallVector<int64_t>());
  if (isa_and_present<IntegerAttr>(call.get(name)))
    dims.push_back(call.getInt(name, 0));
  for (int64_t &dim : dims)
    dim = normalizeDim(dim, rank);
  return llvm::is_contained(dims, -1) ? SmallVector<int64_t>() : dims;
}

/// Dims that do not move fill the remaining positions in order.
std::optional<CallRewrite> Renaming::asPermute() const {
  int64_t rank = call.results.front().getRank();
  // movedim([a, b, c, d], 2 -> 0): order is [2, -, -, -] first, and the other dims fill it in order, [2, 0, 1, 3].
  SmallVector<int64_t> from = dimsOf("source", rank), to = dimsOf("destination", rank), order(rank, -1);
  if (from.empty() || from.size() != to.size())
    return std::nullopt;
  for (auto [source, destination] : llvm::zip_equal(from, to))
    order[destination] = source;
  llvm::SmallDenseSet<int64_t> sources(from.begin(), from.end()), destinations(to.begin(), to.end());
  if (sources.size() != from.size() || destinations.size() != to.size())
    return std::nullopt;
  int64_t next = 0;
  for (int64_t &dim : order) {
    if (dim >= 0)
      continue;
    while (llvm::is_contained(from, next))
      ++next;
    dim = next++;
  }
  return changed("aten.permute.default", {{"dims", builder.getI64ArrayAttr(order)}});
}

std::optional<CallRewrite> Renaming::withSizes(StringRef target, StringRef name) const {
  return changed(target, {{name, builder.getI64ArrayAttr(call.results.front().getShape())}});
}

std::optional<CallRewrite> Renaming::asSlice() const {
  auto start = dyn_cast_or_null<IntegerAttr>(call.get("start"));
  RankedTensorType self = call.operands[call.getOperand("self").value_or(0)], result = call.results.front();
  int64_t dim = normalizeDim(call.getInt("dim", 0), result.getRank());
  if (!start || dim < 0 || dim >= result.getRank() || self.getRank() != result.getRank())
    return std::nullopt;
  int64_t first = start.getInt() < 0 ? start.getInt() + self.getDimSize(dim) : start.getInt();
  return changed("aten.slice.Tensor",
                 {{"dim", integer(dim)}, {"start", integer(first)}, {"end", integer(first + result.getDimSize(dim))}});
}

/// repeat gives a count for every dim; tile may omit leading ones.
std::optional<CallRewrite> Renaming::asRepeat() const {
  SmallVector<int64_t> counts = call.getInts("dims").value_or(SmallVector<int64_t>());
  int64_t rank = call.results.front().getRank();
  if (static_cast<int64_t>(counts.size()) > rank)
    return std::nullopt;
  counts.insert(counts.begin(), rank - counts.size(), 1);
  return changed("aten.repeat.default", {{"repeats", builder.getI64ArrayAttr(counts)}});
}

bool Renaming::isReal() const {
  std::optional<unsigned> self = call.getOperand("self");
  return self && !isa<ComplexType>(call.operands[*self].getElementType());
}

/// Sections or indices along a dim that is part of the operator's name.
std::optional<CallRewrite> Renaming::asTensorSplit(StringRef name) const {
  std::optional<unsigned> self = call.getOperand("self");
  int64_t rank = self ? call.operands[*self].getRank() : 0;
  int64_t dim = name == "dsplit" ? 2 : name == "vsplit" || rank == 1 ? 0 : 1;
  if (dim >= rank)
    return std::nullopt;
  StringRef pieces = call.get("sections") ? "sections" : "indices";
  return changed(("aten.tensor_split." + pieces).str(), {{pieces, call.get(pieces)}, {"dim", integer(dim)}});
}

/// diag makes a matrix of a vector, and takes the diagonal of a matrix.
std::optional<CallRewrite> Renaming::asDiagonal(StringRef name) const {
  bool isOfMatrices = name == "linalg_diagonal";
  std::optional<unsigned> self = call.getOperand(isOfMatrices ? "A" : "self");
  if (!self)
    return std::nullopt;
  int64_t offset = call.getInt(isOfMatrices ? "offset" : "diagonal", 0);
  NamedAttrList args;
  args.set("self", plan::OperandRefAttr::get(builder.getContext(), 0));
  args.set("offset", integer(offset));
  args.set("dim1", integer(isOfMatrices ? call.getInt("dim1", -2) : 0));
  args.set("dim2", integer(isOfMatrices ? call.getInt("dim2", -1) : 1));
  bool isVector = call.operands[*self].getRank() == 1;
  return CallRewrite{isVector ? "aten.diag_embed.default" : "aten.diagonal.default",
                     args.getDictionary(builder.getContext()),
                     {*self}};
}

/// `unbiased` is a correction of 1.
std::optional<CallRewrite> Renaming::asCorrection(StringRef name) const {
  std::optional<unsigned> self = call.getOperand("self");
  if (!self || call.operands.size() != 1)
    return std::nullopt;
  DictionaryAttr args = withArg(call.args, "unbiased", nullptr);
  args = withArg(args, "correction", integer(call.getBool("unbiased", true) ? 1 : 0));
  return CallRewrite{("aten." + name + ".correction").str(), args, {*self}};
}

std::optional<CallRewrite> meshplan::toCanonicalOperator(const CallView &call) {
  auto [space, form] = call.target.split('.');
  auto [name, overload] = form.split('.');
  if (space != "aten" || call.operands.empty())
    return std::nullopt;
  if (StringRef plain = plainName(name); !plain.empty()) {
    auto operands = llvm::to_vector<4>(llvm::seq<unsigned>(0, call.operands.size()));
    return CallRewrite{("aten." + plain + "." + overload).str(), call.args, operands};
  }
  return Renaming(call).find(name);
}
