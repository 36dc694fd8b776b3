package actions

// ReadInput is how each input is read.
var ReadInput = readInput
