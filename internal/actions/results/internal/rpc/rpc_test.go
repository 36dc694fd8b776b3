package rpc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSignatures(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"":                        nil,
		"se=1&sp=r":               nil,
		"sig=abc":                 nil,
		"sig=abcdefgh":            {"abcdefgh"},
		"sig=a%2Bb%2fc%3D":        {"a%2Bb%2fc%3D", "a+b/c=", "a%2Bb%2Fc%3D"},
		"s%69g=abcdefgh":          {"abcdefgh"},
		"sig=ab%20cdef":           {"ab%20cdef", "ab cdef", "ab+cdef"},
		"X-Amz-Signature=0011aa":  {"0011aa"},
		"signed=abcdefgh":         nil,
		"sig=abcdef%zz":           {"abcdef%zz"},
		"sig=abcdefg&sig=hijklmn": {"abcdefg", "hijklmn"},
	}
	for query, want := range tests {
		if diff := cmp.Diff(want, signatures(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body   string
		number int64
		text   string
	}{
		{`{"entry_id":"12","signed_url":"x"}`, 12, "x"},
		{`{"entryId":12,"signedUrl":"x"}`, 12, "x"},
		{`{"entryId": "12" , "signedUrl":"x","later":{}}`, 12, "x"},
		{`{"entry_id":"-12","signed_url":""}`, 0, ""},
		{`{"entry_id":1.5,"signed_url":1}`, 0, ""},
		{`{"entry_id":"12x","signed_url":null}`, 0, ""},
		{`{"entry_id":99999999999999999999}`, 0, ""},
		{`{"entry_id":true}`, 0, ""},
		{`{}`, 0, ""},
	}
	for _, tt := range tests {
		a, err := Response{Body: []byte(tt.body)}.Fields()
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		n, err1 := a.Number("entry_id")
		s, err2 := a.Text("signed_url")
		if n != tt.number || (err1 == nil) != (tt.number > 0) || s != tt.text || (err2 == nil) != (tt.text != "") {
			t.Errorf("%s: got %d, %v, %q and %v, want %d and %q", tt.body, n, err1, s, err2, tt.number, tt.text)
		}
	}
	for _, body := range []string{"", "null", "[]", "1", `{"a":1}{`, "<html>", `{"entry_id":1,"entryId":2}`} {
		if _, err := (Response{Body: []byte(body)}).Fields(); err == nil {
			t.Errorf("%s: got no error", body)
		}
	}
}

// FuzzFields parses any bytes as a response of a service. There must be no panic, and each returned
// field has the requested type.
func FuzzFields(f *testing.F) {
	for _, s := range []string{
		`{"ok":true,"signed_upload_url":"https://x.example/?sig=abcdefgh","entry_id":"12"}`, `{"ok":true,"signedUploadUrl":"x","entryId":12}`,
		`{"ok":false,"message":"cache write denied: token has no writable scopes"}`, `{"ok":"x","entry_id":1e3}`, `{"ok":1,"OK":2}`, `[]`, `null`, ``,
		`{"":0,"_":1}`, `{"entry_id":"\u0031"}`, `{"entry_id":` + "`1`" + `}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Response{Body: data}.Fields()
		if err != nil {
			if strings.Contains(err.Error(), "x.example") {
				t.Fatalf("the answer is shown: %v", err)
			}
			return
		}
		_, _, _ = a.OK()
		if n, err := a.Number("entry_id"); err == nil && n < 1 {
			t.Fatalf("got %d", n)
		}
		if s, err := a.Text("signed_upload_url"); err == nil && s == "" {
			t.Fatal("got an empty text")
		}
	})
}
