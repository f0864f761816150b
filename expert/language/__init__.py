"""Rule files -> Program: nodes, expressions, parser, layers, checker, strata, compiler."""
