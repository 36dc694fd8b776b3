package text

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF8 returns a file's text in UTF-8 without a byte order mark. It decodes UTF-16, which
// PowerShell writes, if the file begins with a byte order mark or with an ASCII character. U+FFFD
// replaces half characters. UTF8 returns any other text unchanged.
func UTF8(file []byte) []byte {
	if rest, ok := bytes.CutPrefix(file, []byte("\uFEFF")); ok {
		return rest
	}
	order := utf16Order(file)
	if order == nil {
		return file
	}
	units := make([]uint16, 0, len(file)/2)
	for i := 0; i+1 < len(file); i += 2 {
		units = append(units, order.Uint16(file[i:]))
	}
	if len(units) > 0 && units[0] == 0xFEFF {
		units = units[1:]
	}
	out := make([]byte, 0, len(units))
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	if len(file)%2 != 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

// utf16Order returns the byte order of a text in UTF-16, and nil for any other text.
func utf16Order(s []byte) binary.ByteOrder {
	switch {
	case len(s) < 2:
		return nil
	case s[0] == 0xFF && s[1] == 0xFE, s[0] != 0 && s[0] < 0x80 && s[1] == 0:
		return binary.LittleEndian
	case s[0] == 0xFE && s[1] == 0xFF, s[0] == 0 && s[1] != 0 && s[1] < 0x80:
		return binary.BigEndian
	}
	return nil
}
