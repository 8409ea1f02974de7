//===- reserved_rows.cpp - the most rows of experts of a rank -------------===//

#include "runtime/exec/steps/reserved_rows.h"

#include "runtime/artifact/sharding.h"

using namespace meshplan;

Status meshplan::checkReserve(const RankView &view, int value, int64_t rows, const artifact::Instruction &maker) {
  RoutedTokens routed = routedTokensOf(view.value(value));
  if (routed.reserve == 0)
    return Status();
  int64_t reserved = view.reservedRows(value);
  if (rows <= reserved)
    return Status();
  const artifact::Origin *origin =
      maker.origin() < 0 ? nullptr
                         : view.schedule().origins()->Get(static_cast<flatbuffers::uoffset_t>(maker.origin()));
  std::string module = origin && origin->module_() ? origin->module_()->str() : "";
  return Status::error(StatusCode::invalid, "rank ", view.rank(), ": ", module.empty() ? "a layer" : "'" + module + "'",
                       " has ", rows, " rows for the experts of this rank, and 'reserve ", routed.reserve,
                       "' of the plan allows ", reserved,
                       "; help: reserve more, balance the experts ('balance bias', an auxiliary loss), or drop tokens "
                       "('capacity')");
}
