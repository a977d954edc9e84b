func.func @f(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>, %n: index) {
  affine.for %kt = 0 to %n step 16 {
    %size = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%n]
    %B_panels = memref.alloc(%size) : memref<?x16x4xf64>
    affine.for %B0 = affine_map<(d0) -> (d0)>(%kt) to min affine_map<(d0)[s0] -> (s0, d0 + 16)>(%kt)[%n] {
      affine.for %B1_panel = 0 to %n step 4 {
        affine.if affine_set<(d0)[s0] : (-d0 + s0 - 4 >= 0)>(%B1_panel)[%n] {
          affine.for %B1 = affine_map<(d0) -> (d0)>(%B1_panel) to affine_map<(d0) -> (d0 + 4)>(%B1_panel) {
            %0 = affine.load %B[%B0, %B1] : memref<?x?xf64>
            affine.store %0, %B_panels[%B1_panel floordiv 4, %B0 - %kt, %B1 - %B1_panel] : memref<?x16x4xf64>
          }
        } else {
          affine.for %B1 = affine_map<(d0) -> (d0)>(%B1_panel) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%B1_panel)[%n] {
            %0 = affine.load %B[%B0, %B1] : memref<?x?xf64>
            affine.store %0, %B_panels[%B1_panel floordiv 4, %B0 - %kt, %B1 - %B1_panel] : memref<?x16x4xf64>
          }
        }
      }
    }
    affine.for %it = 0 to %n step 8 {
      %A_panels = memref.alloc() : memref<2x16x4xf64>
      affine.for %A0_panel = affine_map<(d0) -> (d0)>(%it) to min affine_map<(d0)[s0] -> (s0, d0 + 8)>(%it)[%n] step 4 {
        affine.for %A1 = affine_map<(d0) -> (d0)>(%kt) to min affine_map<(d0)[s0] -> (s0, d0 + 16)>(%kt)[%n] {
          affine.if affine_set<(d0)[s0] : (-d0 + s0 - 4 >= 0)>(%A0_panel)[%n] {
            affine.for %A0 = affine_map<(d0) -> (d0)>(%A0_panel) to affine_map<(d0) -> (d0 + 4)>(%A0_panel) {
              %0 = affine.load %A[%A0, %A1] : memref<?x?xf64>
              affine.store %0, %A_panels[(%A0_panel - %it) floordiv 4, %A1 - %kt, %A0 - %A0_panel] : memref<2x16x4xf64>
            }
          } else {
            affine.for %A0 = affine_map<(d0) -> (d0)>(%A0_panel) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%A0_panel)[%n] {
              %0 = affine.load %A[%A0, %A1] : memref<?x?xf64>
              affine.store %0, %A_panels[(%A0_panel - %it) floordiv 4, %A1 - %kt, %A0 - %A0_panel] : memref<2x16x4xf64>
            }
          }
        }
      }
      %C_fast = memref.alloc(%n) : memref<?x8xf64>
      affine.for %C0 = affine_map<(d0) -> (d0)>(%it) to min affine_map<(d0)[s0] -> (s0, d0 + 8)>(%it)[%n] {
        affine.for %C1 = 0 to %n {
          %0 = affine.load %C[%C0, %C1] : memref<?x?xf64>
          affine.store %0, %C_fast[%C1, %C0 - %it] : memref<?x8xf64>
        }
      }
      affine.for %i = affine_map<(d0) -> (d0)>(%it) to min affine_map<(d0)[s0] -> (d0 + 8, s0)>(%it)[%n] {
        affine.for %j = 0 to %n {
          affine.for %k = affine_map<(d0) -> (d0)>(%kt) to min affine_map<(d0)[s0] -> (d0 + 16, s0)>(%kt)[%n] {
            %a = affine.load %A_panels[(%i - %it) floordiv 4, %k - %kt, (%i - %it) mod 4] : memref<2x16x4xf64>
            %b = affine.load %B_panels[%j floordiv 4, %k - %kt, %j mod 4] : memref<?x16x4xf64>
            %c = affine.load %C_fast[%j, %i - %it] : memref<?x8xf64>
            %p = arith.mulf %a, %b : f64
            %d = arith.addf %c, %p : f64
            affine.store %d, %C_fast[%j, %i - %it] : memref<?x8xf64>
          }
        }
      }
      affine.for %C0 = affine_map<(d0) -> (d0)>(%it) to min affine_map<(d0)[s0] -> (s0, d0 + 8)>(%it)[%n] {
        affine.for %C1 = 0 to %n {
          %0 = affine.load %C_fast[%C1, %C0 - %it] : memref<?x8xf64>
          affine.store %0, %C[%C0, %C1] : memref<?x?xf64>
        }
      }
      memref.dealloc %C_fast : memref<?x8xf64>
      memref.dealloc %A_panels : memref<2x16x4xf64>
    }
    memref.dealloc %B_panels : memref<?x16x4xf64>
  }
  return
}