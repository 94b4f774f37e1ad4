// A package that declares a function without a body has a file of assembly, perhaps an empty one.
