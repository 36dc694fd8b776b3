package agent

import (
	"bytes"
	"encoding/json"
)

// maxTries limits how many positions of a message are tried as the start of a result.
const maxTries = 500

// Extract returns the last result in an agent's final message. A result is a JSON object with the
// key "run". It is the whole message, or stands in prose. It may also be text under the key
// "result" of another JSON object, as some agents print one object a line.
//
// With a mark, a result counts only directly after the mark, apart from white space and the marks of
// Markdown. So what a tool printed is no result, even if it looks like one. mark may be empty.
func Extract(message []byte, mark string) (found []byte, ok bool) {
	return extract(message, mark, true)
}

func extract(message []byte, mark string, wrapped bool) ([]byte, bool) {
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
		if _, ok := object["run"]; ok && follows(message[:at], mark) {
			return bytes.Clone(message[at : at+int(d.InputOffset())]), true
		}
		var text string
		if wrapped && json.Unmarshal(object["result"], &text) == nil {
			if found, ok := extract([]byte(text), mark, false); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// follows reports whether a text ends with the mark, apart from white space, emphasis and the start
// of a code block.
func follows(text []byte, mark string) bool {
	const around = " \t\r\n`*"
	text = bytes.TrimRight(bytes.TrimSuffix(bytes.TrimRight(text, around), []byte("json")), around)
	return bytes.HasSuffix(text, []byte(mark))
}
