package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// NewTaskID returns a UUID version 4 (RFC 9562 §5.4) from 16 bytes of random, which is
// crypto/rand.Reader in production. It fails if random fails.
func NewTaskID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("generate a task id: %w", err)
	}
	return uuid4(b), nil
}

// DeriveTaskID returns a UUID version 4 whose random bits are derived from parts. The same parts
// give the same id on every machine, so a task that is started again keeps its id.
func DeriveTaskID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		// The length distinguishes ("a", "bc") from ("ab", "c").
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return uuid4([16]byte(h.Sum(nil)))
}

func uuid4(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var out [36]byte
	hex.Encode(out[0:8], b[0:4])
	out[8] = '-'
	hex.Encode(out[9:13], b[4:6])
	out[13] = '-'
	hex.Encode(out[14:18], b[6:8])
	out[18] = '-'
	hex.Encode(out[19:23], b[8:10])
	out[23] = '-'
	hex.Encode(out[24:36], b[10:16])
	return string(out[:])
}
