"""Straight code of statements under conditions."""

from affdsl.mlir.readers import parse


def guarded(choose, statements=14):
    """Loads and stores in a row, each of them under a condition of its own."""
    places = ["%i, %j", "%i, %j", "%i, %j + 1", "%i - 1, %j", "%i, 3", "%n, %j"]
    conditions = ["d0 - s0 >= 0", "-d0 + s0 - {0} >= 0", "d1 - {0} >= 0", "{0} - d1 >= 0", "d0 - d1 - {0} == 0"]
    body = ""
    for k in range(statements):
        where = choose.choice(places).replace("%n", "symbol(%n)")
        condition = choose.choice(conditions).format(choose.randint(0, 9))
        body += f"""
            affine.if affine_set<(d0, d1)[s0] : ({condition})>(%i, %j)[%n] {{
              %a{k} = affine.load %{choose.choice("AAB")}[{where}] : memref<50x50xf32>
              affine.store %a{k}, %{choose.choice("AB")}[{where}] : memref<50x50xf32>
            }}"""
    return parse(f"""
        func.func @f(%A: memref<50x50xf32>, %B: memref<50x50xf32>, %n: index) {{
          affine.for %i = 2 to %n {{
            affine.for %j = 2 to %n {{ {body}
            }}
          }}
          return
        }}""").functions[0]
