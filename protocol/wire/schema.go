package wire

// schemas is where the schemas of this version are published: at the tag of the version in which
// they last changed (spec §1.3).
const schemas = "https://github.com/dpl-project/dpl/raw/v0.1.0/spec/"

// Schema returns the $schema of a file of that kind, such as operation.
func Schema(kind string) string { return schemas + kind + ".schema.json" }
