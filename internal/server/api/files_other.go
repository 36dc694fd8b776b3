//go:build !unix

package api

// maxFiles returns how many files and connections the process may have open; 0: unknown.
func maxFiles() uint64 { return 0 }
