package file

import "github.com/org/foreman-action/memory"

// Lock is the store's lock, for the test that holds it in another process.
var Lock = lock

// DecodeLines reads the file of a ledger.
func DecodeLines(data []byte, key memory.LedgerKey) (l memory.Ledger, torn bool, err error) {
	lines, err := decodeLines(data, key)
	return lines.Ledger, lines.torn, err
}
