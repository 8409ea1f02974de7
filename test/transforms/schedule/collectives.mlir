// RUN: meshplan-opt %s --schedule=solver=program | FileCheck %s

// Every collective, a slice, and one communicator for each distinct list of axes.

#none = #plan.sharding<[{}, {}]>
#rows = #plan.sharding<[{"tp"}, {}]>
#cols = #plan.sharding<[{}, {"tp"}]>
#inner = #plan.sharding<[{"tp":(1)2}, {}]>
#both = #plan.sharding<[{"dp", "tp"}, {}]>
#other = #plan.sharding<[{"tp", "dp"}, {}]>

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 4>]

// CHECK: sched.communicator @tp over [#sched.axis<1:(1)4>]
// CHECK-NEXT: sched.communicator @dp.tp over [#sched.axis<0:(1)2>, #sched.axis<1:(1)4>]
// CHECK-NEXT: sched.communicator @tp.1.2 over [#sched.axis<1:(1)2>]

// CHECK-LABEL: sched.program @forward
func.func @forward(
    %rows: tensor<8x8xf32, #rows> {plan.kind = #plan.kind<input>, plan.names = ["rows"]},
    %partial: tensor<8x8xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>
      {plan.kind = #plan.kind<input>, plan.names = ["partial"]},
    %both: tensor<8x8xf32, #both> {plan.kind = #plan.kind<input>, plan.names = ["both"]},
    %inner: tensor<8x8xf32, #inner> {plan.kind = #plan.kind<input>, plan.names = ["inner"]})
    -> (tensor<8x8xf32, #none>, tensor<8x8xf32, #cols>, tensor<8x8xf32, #rows>, tensor<8x8xf32, #other>,
        tensor<8x8xf32, #none>, tensor<8x8xf32, #inner>) {
  // A collective on inputs starts at its own position; results that only the caller needs are waited for at the end.
  // CHECK: %[[T0:.*]] = sched.start all_gather %{{.*}} dim 0 over @tp sequence 0 :
  %0 = plan.all_gather %rows [#plan.axis<"tp">] dim 0 : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #none>
  // The columns that go to one rank are not adjacent in memory; the rows that arrive are.
  // CHECK-NEXT: %[[P1:.*]] = sched.pack %{{.*}}
  // CHECK-NEXT: %[[T1:.*]] = sched.start all_to_all %[[P1]] from 0 dim 1 over @tp sequence 1 :
  %1 = plan.all_to_all %rows [#plan.axis<"tp">] from 0 to 1 : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #cols>
  // CHECK-NEXT: %[[T2:.*]] = sched.start reduce_scatter %{{.*}} dim 0 over @tp sequence 2 :
  %2 = plan.reduce_scatter %partial [#plan.axis<"tp">] dim 0
    : tensor<8x8xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>> -> tensor<8x8xf32, #rows>
  // CHECK-NEXT: %[[T3:.*]] = sched.start permute %{{.*}} over @dp.tp sequence 3 :
  %3 = plan.permute %both [#plan.axis<"dp">, #plan.axis<"tp">] : tensor<8x8xf32, #both> -> tensor<8x8xf32, #other>
  // CHECK-NEXT: %[[T4:.*]] = sched.start all_gather %{{.*}} dim 0 over @tp.1.2 sequence 4 :
  %4 = plan.all_gather %inner [#plan.axis<"tp":(1)2>] dim 0 : tensor<8x8xf32, #inner> -> tensor<8x8xf32, #none>
  // The first use waits.
  // CHECK-NEXT: %[[Y:.*]] = sched.wait %[[T0]]
  // CHECK-NEXT: sched.slice %[[Y]] : <[8, 8], f32> -> <[8 over {1:(1)2}, 8], f32>
  %5 = plan.slice %0 [#plan.axis<"tp":(1)2>] dim 0 : tensor<8x8xf32, #none> -> tensor<8x8xf32, #inner>
  // CHECK-NEXT: sched.wait %[[T1]]
  // CHECK-NEXT: sched.free %[[P1]]
  // CHECK-NEXT: sched.wait %[[T2]]
  // CHECK-NEXT: sched.wait %[[T3]]
  // CHECK-NEXT: sched.wait %[[T4]]
  // CHECK-NEXT: sched.output "0" %[[Y]]
  return %0, %1, %2, %3, %4, %5 : tensor<8x8xf32, #none>, tensor<8x8xf32, #cols>, tensor<8x8xf32, #rows>,
    tensor<8x8xf32, #other>, tensor<8x8xf32, #none>, tensor<8x8xf32, #inner>
}
