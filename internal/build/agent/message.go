package agent

import (
	"bytes"
	"encoding/json"
)

// maxTries bounds the places of a message that are tried as the start of a result.
const maxTries = 500

// Extract returns the last result in an agent's final message: a JSON object with the key
// "run", as the whole message, in prose, or as the text of the key "result" in an object of
// the agent's own, one to a line.
func Extract(message []byte) (found []byte, ok bool) { return extract(message, true) }

func extract(message []byte, wrapped bool) ([]byte, bool) {
	at := len(message)
	for range maxTries {
		if at = bytes.LastIndexByte(message[:at], '{'); at < 0 {
			return nil, false
		}
		d := json.NewDecoder(bytes.NewReader(message[at:]))
		var object map[string]json.RawMessage
		if d.Decode(&object) != nil {
			continue
		}
		if _, ok := object["run"]; ok {
			return bytes.Clone(message[at : at+int(d.InputOffset())]), true
		}
		var text string
		if wrapped && json.Unmarshal(object["result"], &text) == nil {
			if found, ok := extract([]byte(text), false); ok {
				return found, true
			}
		}
	}
	return nil, false
}
