//go:build !linux

package ramdir

// memory is empty, because these systems have no common folder in memory.
const memory = ""

func usable(string) bool { return false }
