package evidence_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/evidence"
)

const valid = `{"version":1,"repo":"octo/hello","at":"2026-11-27T00:00:00Z","since":"2025-11-27T00:00:00Z","pairs":[
	{"digest":"0123456789abcdef","action":"add_label","value":"bug","judged":30,"kept":27},
	{"digest":"0123456789abcdef","action":"add_label","value":"docs","judged":4,"kept":4},
	{"digest":"0123456789abcdef","action":"close_issue","value":"","judged":40,"kept":40},
	{"digest":"fedcba9876543210","action":"add_label","value":"bug","judged":0,"kept":0}]}`

func TestDecode(t *testing.T) {
	t.Parallel()
	pair := func(old, new string) string { return strings.Replace(valid, old, new, 1) }
	for name, tt := range map[string]struct{ data, want string }{
		"valid":              {valid, ""},
		"in one line":        {strings.Join(strings.Fields(valid), ""), ""},
		"empty":              {"", "it is not the JSON"},
		"another kind":       {`[]`, "it is not the JSON"},
		"not UTF-8":          {pair("bug", "b\xffg"), "it is not UTF-8"},
		"no version":         {`{}`, "it has no version"},
		"newer":              {pair(`"version":1`, `"version":2,"new":[]`), "a newer version of the program wrote it: it has version 2"},
		"unknown key":        {pair(`"kept":27`, `"kept":27,"x":1`), "it is not the JSON"},
		"long unknown key":   {pair(`"kept":27`, `"kept":27,"`+strings.Repeat("x", 5000)+`":1`), "it is not the JSON"},
		"two values":         {valid + "{}", "it is not the JSON"},
		"another repository": {pair("octo/hello", "octo/other"), "it is of the repository octo/other, not of Octo/Hello"},
		"no repository":      {pair("octo/hello", "hello"), "its repository is not owner/name"},
		"no time":            {pair("2026-11-27T00:00:00Z", "0001-01-01T00:00:00Z"), "it has no valid time"},
		"digest":             {pair("0123456789abcdef", "0123456789ABCDEF"), "pair 1: the digest"},
		"no action":          {pair("add_label", ""), "pair 1: the action is missing"},
		"long value":         {pair("bug", strings.Repeat("x", 601)), "pair 1: the action is missing, or a text is too long"},
		"case":               {pair("bug", "Bug"), "pair 1: the value is not in the form"},
		"more kept":          {pair(`"kept":27`, `"kept":31`), "pair 1: want 0 ≤ kept"},
		"negative":           {pair(`"kept":27`, `"kept":-1`), "pair 1: want 0 ≤ kept"},
		"huge":               {pair(`"judged":30`, `"judged":1000001`), "pair 1: want 0 ≤ kept"},
		"a fraction":         {pair(`"judged":30`, `"judged":30.5`), "it is not the JSON"},
		"twice":              {pair(`"docs"`, `"bug"`), "pair 2: it is out of order, or there twice"},
		"order":              {pair(`"bug"`, `"zoo"`), "pair 2: it is out of order, or there twice"},
		"many":               {pair(`"pairs":[`, `"pairs":[`+strings.Repeat("{},", evidence.MaxPairs)), "it has 5004 pairs, more than 5000"},
		"large":              {strings.Repeat(" ", evidence.MaxSize) + valid, "it has more than 1048576 bytes"},
	} {
		f, err := evidence.Decode([]byte(tt.data), "Octo/Hello")
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
		if errors.Is(err, evidence.ErrNewer) != (name == "newer") {
			t.Errorf("%s: got %v", name, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		if err != nil && len(f.Pairs) > 0 {
			t.Errorf("%s: got %d pairs", name, len(f.Pairs))
		}
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	f, err := evidence.Decode([]byte(valid), "octo/hello")
	if err != nil {
		t.Fatal(err)
	}
	const a, b = "0123456789abcdef", "fedcba9876543210"
	for _, tt := range []struct {
		digest, action, value string
		of, kept, judged      int
	}{
		{a, "add_label", "bug", 20, 9, 10},
		{a, "add_label", "Bug", 20, 9, 10},
		{a, "add_label", "bug", 21, 9, 10},
		{a, "add_label", "bug", 100, 27, 30},
		{a, "add_label", "bug", 14, 6, 7}, // 6.3
		{a, "add_label", "docs", 20, 4, 4},
		{a, "add_label", "bug", 1, 0, 0},
		{a, "add_label", "bug", -1, 0, 0},
		{a, "add_label", "other", 20, 0, 0},
		{a, "add_labels", "bug", 20, 9, 10},
		{a, "remove_label", "bug", 20, 0, 0},
		{a, "unknown", "bug", 20, 0, 0},
		{a, "close_issue", "", 60, 0, 0},
		{a, "mark_duplicate", "", 60, 0, 0},
		{a, "lock", "", 60, 0, 0},
		{a, "comment", "", 20, 0, 0},
		{b, "add_label", "bug", 20, 0, 0},
		{"", "", "", 20, 0, 0},
	} {
		kept, judged := f.Start(tt.digest, tt.action, tt.value, tt.of)
		if kept != tt.kept || judged != tt.judged {
			t.Errorf("%s %s %s of %d: got %d of %d, want %d of %d", tt.digest, tt.action, tt.value, tt.of, kept, judged, tt.kept, tt.judged)
		}
	}
	if again, err := evidence.Decode([]byte(valid), ""); err != nil || len(again.Pairs) != len(f.Pairs) {
		t.Errorf("for any repository: %d pairs, %v", len(again.Pairs), err)
	}
	if kept, judged := (evidence.File{}).Start(a, "add_label", "bug", 20); kept+judged != 0 {
		t.Errorf("without a file: %d of %d", kept, judged)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 1, 2, 3, 4, time.FixedZone("x", 3600))
	data, err := evidence.Encode(evidence.File{Repo: "octo/hello", At: at, Pairs: []evidence.Pair{
		{Digest: "fedcba9876543210", Action: "add_label", Value: "Bug", Judged: 3, Kept: 1},
		{Digest: "0123456789abcdef", Action: "add_label", Value: "bug", Judged: 0},
		{Digest: "0123456789abcdef", Action: "close_issue", Judged: 9, Kept: 9},
		{Digest: "0123456789abcdef", Action: "add_label", Value: "<docs>", Judged: 2, Kept: 2},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := evidence.Decode(data, "octo/hello")
	if err != nil {
		t.Fatal(err)
	}
	want := evidence.File{Version: 1, Repo: "octo/hello", At: time.Date(2026, 11, 27, 0, 2, 3, 0, time.UTC), Pairs: []evidence.Pair{
		{Digest: "0123456789abcdef", Action: "add_label", Value: "<docs>", Judged: 2, Kept: 2},
		{Digest: "fedcba9876543210", Action: "add_label", Value: "bug", Judged: 3, Kept: 1},
	}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, wrong := range map[string]evidence.File{
		"no repository": {At: at},
		"no time":       {Repo: "octo/hello"},
		"no digest":     {Repo: "octo/hello", At: at, Pairs: []evidence.Pair{{Action: "add_label", Judged: 1}}},
	} {
		if data, err := evidence.Encode(wrong); err == nil {
			t.Errorf("%s: got %s", name, data)
		}
	}
}

// FuzzDecode decodes any bytes. A file that is accepted is encoded and decoded to what counts of it, and it
// never starts a record with more than half of what is demanded.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(`{"version":1,"repo":"octo/hello","at":"2026-11-27T00:00:00+01:00","pairs":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := evidence.Decode(data, "octo/hello")
		if err != nil {
			return
		}
		for _, p := range file.Pairs {
			kept, judged := file.Start(p.Digest, p.Action, p.Value, 20)
			if judged > 10 || kept > judged || kept < 0 || judged > 0 && kept*p.Judged > judged*p.Kept {
				t.Errorf("%+v starts with %d of %d", p, kept, judged)
			}
		}
		stored, err := evidence.Encode(file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := evidence.Decode(stored, "octo/hello")
		if err != nil {
			t.Fatalf("%v:\n%s", err, stored)
		}
		if twice, err := evidence.Encode(again); err != nil || !bytes.Equal(twice, stored) {
			t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(string(stored), string(twice)))
		}
	})
}
