package template

import (
	"reflect"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		Type []span
		err  bool
	}{
		{"", nil, false},
		{"a", []span{{"a", 0, false}}, false},
		{"{{x}}", []span{{"x", 2, true}}, false},
		{"a{{ x }}b{{y}}", []span{{"a", 0, false}, {" x ", 3, true}, {"b", 8, false}, {"y", 11, true}}, false},
		{`{{ "}}" }}`, []span{{` "}}" `, 2, true}}, false},
		{`{{ "\"}}" }}c`, []span{{` "\"}}" `, 2, true}, {"c", 12, false}}, false},
		{"{{ `\\` }}", []span{{" `\\` ", 2, true}}, false},
		{"{{ '}}' }}", []span{{" '}}' ", 2, true}}, false},
		{"a } b }} c { d", []span{{"a } b }} c { d", 0, false}}, false},
		{"{{", nil, true},
		{"a {{ b }", nil, true},
		{`{{ "}}`, nil, true},
		{strings.Repeat("x{{1}}", 51), nil, true},
	}
	for _, tt := range tests {
		got, _, err := split(tt.in)
		if (err != nil) != tt.err {
			t.Errorf("split(%q): got error %v, want one: %v", tt.in, err, tt.err)
			continue
		}
		if !tt.err && !reflect.DeepEqual(got, tt.Type) {
			t.Errorf("split(%q): got %v, want %v", tt.in, got, tt.Type)
		}
	}
	if _, _, err := split(strings.Repeat("x{{1}}", 50)); err != nil {
		t.Errorf("50 parts: %v", err)
	}
}
