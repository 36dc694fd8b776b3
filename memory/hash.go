package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/org/foreman-action/protocol"
)

// HashAction returns 16 hexadecimal digits that identify an action: the start of the SHA-256 of
// its canonical JSON, which has sorted keys and no spaces. Differently formatted JSON of the same
// action gives the same hash. Numbers are compared as text, so 7 and 7.0 differ.
func HashAction(item protocol.ActionItem) string {
	sum := sha256.Sum256(canonical(item))
	return hex.EncodeToString(sum[:8])
}

// canonical returns the canonical JSON of an action. If a key is repeated, its last value counts,
// as when the action is carried out.
func canonical(item protocol.ActionItem) []byte {
	data, err := item.MarshalJSON()
	if err != nil {
		// An action that was decoded from JSON never gets here.
		return []byte(item.Type)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return data
	}
	form, err := protocol.Encode(v)
	if err != nil {
		return data
	}
	return form
}
