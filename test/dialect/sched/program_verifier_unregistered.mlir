// RUN: meshplan-opt %s -allow-unregistered-dialect -verify-diagnostics

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P2: an op of no dialect
  // expected-error@+1 {{'other.op' op is not an op that a program may contain}}
  "other.op"() : () -> ()
}
