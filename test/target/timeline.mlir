// A timeline, and what only the last instance of it runs, in the artifact.
// RUN: meshplan-opt %s --print-artifact -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace

//      CHECK:program step role step timeline count0 0 to 1, step 0 to 2
// CHECK-NEXT:  input v0 f32[12] 'x'
// CHECK-NEXT:  v1 f32[12 over tp] = slice v0
// CHECK-NEXT:  last: v2 f32[12] = start 0 all_gather v1 dim 0 over tp, 40 bytes of activations
// CHECK-NEXT:  last: wait 0
// CHECK-NEXT:  free v1
// CHECK-NEXT:  output v2 'y'
//      CHECK:program count0 role microbatch
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@count0, 1>, #base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %y dim 0 over @tp sequence 0 when last : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %z = sched.wait %t when last : !sched.token<!sched.tensor<[12], f32>>
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
  sched.output "y" %z : <[12], f32>
}
sched.program @count0 role <microbatch> {
}
