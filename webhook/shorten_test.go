package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a": "1234", "bcdef": ["12345", "123456", ""]}`: `{"a": "1234", "bcde": ["1234", "1234", ""]}`,
		`"12\"45"`:           `"12\""`,
		`"123\"5"`:           `"123\""`,
		`"1234\""`:           `"1234"`,
		`"123\u00e95"`:       `"123\u00e9"`,
		`"1234\u00e95"`:      `"1234"`,
		`"123ü5"`:            `"123ü"`,
		`"1234\\" , "\\"`:    `"1234" , "\\"`,
		`"12345" "` + "\xff": `"1234" "` + "\xff",
		"\"1234567\n\"":      "\"1234\n\"",
		`"123456\q7"`:        `"1234\q"`,
		`"123456\u12x7"`:     `"1234\ux"`,
		``:                   ``,
	} {
		got, err := shorten(strings.NewReader(in), 4, 100)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := shorten(strings.NewReader(`["1","2"]`), 4, 8); !errors.Is(err, errTooLong) {
		t.Errorf("too long: got %v", err)
	}
	if _, err := shorten(iotest.ErrReader(errTooLong), 4, 8); !errors.Is(err, errTooLong) {
		t.Errorf("unreadable: got %v", err)
	}
}

// FuzzShorten checks that JSON stays JSON with the same structure, and that short texts
// are unchanged.
func FuzzShorten(f *testing.F) {
	for _, s := range []string{`{"a":"b","c":["\u00e9\\\"",1]}`, `"\`, `"\u12`, "\"\xff\xfe\"", `"123456789"`, `{"long":"` + strings.Repeat("ü", 40) + `"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := shorten(bytes.NewReader(data), 8, 1<<20)
		if err != nil {
			return
		}
		if valid := json.Valid(data); valid != json.Valid(got) && utf8.Valid(data) {
			t.Errorf("valid %v: %q became %q", valid, data, got)
		}
		if slow, err := shorten(iotest.OneByteReader(bytes.NewReader(data)), 8, 1<<20); err != nil || !bytes.Equal(slow, got) {
			t.Errorf("%q became %q at once, byte by byte %q, %v", data, got, slow, err)
		}
		same, err := shorten(bytes.NewReader(data), len(data), len(data))
		if err != nil || !bytes.Equal(same, data) {
			t.Errorf("%q became %q, %v", data, same, err)
		}
	})
}
