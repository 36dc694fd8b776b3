package protocol_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/org/foreman-action/protocol"
)

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestNewTaskID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id, err := protocol.NewTaskID(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if !uuid4.MatchString(id) || seen[id] {
			t.Fatalf("got %s, want a new UUID version 4", id)
		}
		seen[id] = true
	}
	for fill, want := range map[byte]string{0x00: "00000000-0000-4000-8000-000000000000", 0xff: "ffffffff-ffff-4fff-bfff-ffffffffffff"} {
		got, err := protocol.NewTaskID(iotest.OneByteReader(bytes.NewReader(bytes.Repeat([]byte{fill}, 16))))
		if err != nil || got != want {
			t.Errorf("of bytes %x: got %s, %v, want %s", fill, got, err, want)
		}
	}
	if id, err := protocol.NewTaskID(strings.NewReader("too short")); !errors.Is(err, io.ErrUnexpectedEOF) || id != "" {
		t.Errorf("without enough random bytes: got %q, %v", id, err)
	}
}

// TestDeriveTaskID pins the derived ids. If a newer version derived another id from the same parts,
// it would treat a task that is started again as a new one.
func TestDeriveTaskID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		parts []string
		want  string
	}{
		{nil, "e3b0c442-98fc-4c14-9afb-f4c8996fb924"},
		{[]string{""}, "af5570f5-a181-4b7a-b78c-af4bc70a660f"},
		{[]string{"org/repo", "1234567890", "42"}, "70fd178c-5744-4116-86a3-b963be6e38f2"},
		{[]string{"org/repo", "12345678904", "2"}, "5247c6fc-a656-43bc-b2fa-351f68d3fed6"},
		{[]string{"org/repo", "1234567890", "42", ""}, "5ec67082-af7c-4af1-9b48-69e17ca965b4"},
	}
	for _, tt := range tests {
		if got := protocol.DeriveTaskID(tt.parts...); got != tt.want {
			t.Errorf("DeriveTaskID(%q): got %s, want %s", tt.parts, got, tt.want)
		}
	}
}

func TestDeriveTaskIDSeparates(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<16)
	seen := map[string][]string{}
	for _, parts := range [][]string{
		nil, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "bc"}, {"ab", "c"}, {"abc"}, {"a", "b", "c"}, {"A", "bc"}, {long}, {"", long}, {long, ""},
	} {
		id := protocol.DeriveTaskID(parts...)
		if !uuid4.MatchString(id) {
			t.Errorf("got %s, want a UUID version 4", id)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%.20q and %.20q give the same id", other, parts)
		}
		seen[id] = parts
	}
}
