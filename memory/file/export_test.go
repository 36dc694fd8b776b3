package file

import "github.com/org/foreman-action/memory"

// Lock is the store's lock, for a test in which another process holds it.
var Lock = lock

// DecodeLines decodes the content of a ledger's file.
func DecodeLines(data []byte, key memory.LedgerKey) (l memory.Ledger, torn bool, err error) {
	lines, err := decodeLines(data, key)
	return lines.Ledger, lines.torn, err
}
