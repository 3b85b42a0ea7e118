rt.kernel @bias_gelu rows 64 cols 1024 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %b = rt.load 1 : f32
  %s = arith.addf %x, %b : f32
  %c = arith.constant 0.044715 : f32
  %k = arith.constant 0.7978845608 : f32
  %h = arith.constant 0.5 : f32
  %s2 = arith.mulf %s, %s : f32
  %cs = arith.mulf %s2, %c : f32
  %in = math.fma %cs, %s, %s : f32
  %ks = arith.mulf %in, %k : f32
  %t = math.tanh %ks : f32
  %hs = arith.mulf %s, %h : f32
  %y = math.fma %hs, %t, %hs : f32
  rt.store 2, %y : f32
}
rt.kernel @residual_norm rows 64 cols 1024 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %r = rt.load 1 : f32
  %h = arith.addf %x, %r : f32
  rt.store 4, %h : f32
  %inv = arith.constant 0.0009765625 : f32
  %sum = rt.row_reduce sum %h : f32
  %mu = arith.mulf %sum, %inv : f32
  %d = arith.subf %h, %mu : f32
  %dd = arith.mulf %d, %d : f32
  %ss = rt.row_reduce sum %dd : f32
  %eps = arith.constant 1.0e-5 : f32
  %var = math.fma %ss, %inv, %eps : f32
  %rs = math.rsqrt %var : f32
  %g = rt.load 2 : f32
  %bb = rt.load 3 : f32
  %n = arith.mulf %d, %rs : f32
  %y = math.fma %n, %g, %bb : f32
  rt.store 5, %y : f32
  rt.store 6, %mu : f32
  rt.store 7, %rs : f32
}
rt.kernel @cross_entropy rows 32 cols 256 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = i32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = row, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  %label = rt.load 1 : i32
  %col = rt.index col : i32
  %m = rt.row_reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %e = math.exp %d : f32
  %s = rt.row_reduce sum %e : f32
  %hit = arith.cmpi eq, %col, %label : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %picked = arith.select %hit, %d, %zero : f32
  %p = rt.row_reduce sum %picked : f32
  %ls = math.log %s : f32
  %loss = arith.subf %ls, %p : f32
  rt.store 3, %loss : f32
  rt.accumulate 4, %loss : f32
  %q = arith.divf %e, %s : f32
  %oh = arith.select %hit, %one, %zero : f32
  %g = arith.subf %q, %oh : f32
  rt.store 2, %g : f32
}
rt.kernel @dropout_residual rows 64 cols 1024 args 3 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
  %seed = rt.arg 0 : i64
  %base = rt.arg 1 : i64
  %layer = rt.arg 2 : i64
  %x = rt.load 0 : f32
  %r = rt.load 1 : f32
  %row = rt.index row : i32
  %col = rt.index col : i32
  %per = arith.constant 16 : i32
  %cols = arith.constant 1024 : i32
  %sr = arith.divui %row, %per : i32
  %in = arith.remui %row, %per : i32
  %sr64 = arith.extui %sr : i32 to i64
  %sample = arith.addi %base, %sr64 : i64
  %rb = arith.muli %in, %cols : i32
  %el = arith.addi %rb, %col : i32
  %w = rt.random %seed, %sample, %layer, %el {site = 2} : i32
  %lim = arith.constant 429496729 : i32
  %keep = arith.cmpi uge, %w, %lim : i32
  %sc = arith.constant 1.1111112 : f32
  %zero = arith.constant 0.0 : f32
  %sx = arith.mulf %x, %sc : f32
  %dx = arith.select %keep, %sx, %zero : f32
  %y = arith.addf %dx, %r : f32
  rt.store 2, %y : f32
}
rt.kernel @adamw rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>, #rt.operand<mode = scalar, element = f32, extent = 0>] {
  %p = rt.load 0 : f32
  %g = rt.load 1 : f32
  %m = rt.load 2 : f32
  %v = rt.load 3 : f32
  %lr = rt.load 4 : f32
  %coeff = rt.load 5 : f32
  %b1 = arith.constant 0.9 : f32
  %b2 = arith.constant 0.95 : f32
  %c1 = arith.constant 0.1 : f32
  %c2 = arith.constant 0.05 : f32
  %eps = arith.constant 1.0e-8 : f32
  %wd = arith.constant 0.1 : f32
  %one = arith.constant 1.0 : f32
  %gc = arith.mulf %g, %coeff : f32
  %m1 = arith.mulf %m, %b1 : f32
  %m2 = math.fma %c1, %gc, %m1 : f32
  %v1 = arith.mulf %v, %b2 : f32
  %g1 = arith.mulf %c2, %gc : f32
  %v2 = math.fma %g1, %gc, %v1 : f32
  %rt = math.sqrt %v2 : f32
  %den = arith.addf %rt, %eps : f32
  %q = arith.divf %m2, %den : f32
  %lwd = arith.mulf %lr, %wd : f32
  %keep = arith.subf %one, %lwd : f32
  %u = arith.mulf %lr, %q : f32
  %pk = arith.mulf %p, %keep : f32
  %pn = arith.subf %pk, %u : f32
  rt.store 0, %pn : f32
  rt.store 2, %m2 : f32
  rt.store 3, %v2 : f32
}
