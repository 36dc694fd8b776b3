package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
)

// keyword is the PNG keyword of the text that contains the digest of a picture's source.
const keyword = "Source-SHA256"

// ihdrEnd is the offset at which the first chunk of a PNG, IHDR, ends: after the signature, and
// the chunk's length, type, data and checksum.
const ihdrEnd = 8 + 4 + 4 + 13 + 4

var signature = []byte("\x89PNG\r\n\x1a\n")

// WithSource returns a picture with the digest of the text that it was made of.
func WithSource(picture, source []byte) ([]byte, error) {
	if !bytes.HasPrefix(picture, signature) || len(picture) < ihdrEnd {
		return nil, errors.New("the browser returned no PNG")
	}
	text := []byte("tEXt" + keyword + "\x00" + Digest(source))
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4))
	chunk = append(chunk, text...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(text))
	return bytes.Join([][]byte{picture[:ihdrEnd], chunk, picture[ihdrEnd:]}, nil), nil
}

// Digest returns the digest of a text in the form that WithSource writes.
func Digest(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// SourceOf returns the digest that WithSource put into a picture, or "" if there is none.
func SourceOf(picture []byte) string {
	for at := len(signature); at+8 <= len(picture); {
		size := int(binary.BigEndian.Uint32(picture[at:]))
		end := at + 8 + size
		if end+4 > len(picture) {
			return ""
		}
		if string(picture[at+4:at+8]) == "tEXt" {
			if name, value, ok := bytes.Cut(picture[at+8:end], []byte{0}); ok && string(name) == keyword {
				return string(value)
			}
		}
		at = end + 4
	}
	return ""
}
