package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/org/foreman-action/protocol"
)

// HashAction returns 16 hexadecimal digits that identify an action: the start of the SHA-256 of
// its JSON in one form, with the keys of every object sorted and no space. Actions that were
// decoded from differently written JSON hash equal; numbers count as they are written, so 7 and
// 7.0 do not.
func HashAction(item protocol.ActionItem) string {
	sum := sha256.Sum256(canonical(item))
	return hex.EncodeToString(sum[:8])
}

// canonical returns the one form of an action. Of a repeated key the last value
// counts, as when the action is carried out.
func canonical(item protocol.ActionItem) []byte {
	data, err := item.MarshalJSON()
	if err != nil {
		// Nothing that was decoded comes here.
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
