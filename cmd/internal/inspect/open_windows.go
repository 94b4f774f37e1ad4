package inspect

// atOnce is for systems with FIFOs.
const atOnce = 0
