package version_test

import (
	"slices"
	"testing"

	"github.com/org/foreman-action/internal/release/version"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"v0.1.0", "v1.2.3", "v10.20.30"} {
		v, err := version.Parse(tag)
		if err != nil || v.Tag() != tag || "v"+v.String() != tag {
			t.Errorf("%s: got %v and the error %v", tag, v, err)
		}
	}
	for _, tag := range []string{"", "1.2.3", "v1", "v1.2", "v1.2.3-rc.1", "v1.2.3+x", "v01.2.3", "v1.2.03", "v1.2.3\n",
		"v1.2.3.4", "latest", "v1.2.99999999999", "v-1.2.3", "--force"} {
		if v, err := version.Parse(tag); err == nil {
			t.Errorf("%q: got %v, want an error", tag, v)
		}
	}
}

func TestMoving(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tag      string
		existing []string
		want     []string
	}{
		{"v1.2.3", nil, []string{"v1", "v1.2"}},
		{"v1.2.3", []string{"v1.2.2", "v0.9.0", "v1.2.3"}, []string{"v1", "v1.2"}},
		{"v1.2.4", []string{"v1.3.0"}, []string{"v1.2"}},
		{"v1.2.4", []string{"v1.2.5"}, nil},
		{"v1.2.4", []string{"v1.2.10", "v2.0.0"}, nil},
		{"v1.10.0", []string{"v1.9.9", "v2.0.0"}, []string{"v1", "v1.10"}},
	}
	for _, tt := range tests {
		var existing []version.Version
		for _, tag := range tt.existing {
			existing = append(existing, parse(t, tag))
		}
		if got := parse(t, tt.tag).Moving(existing); !slices.Equal(got, tt.want) {
			t.Errorf("%s beside %q: got %q, want %q", tt.tag, tt.existing, got, tt.want)
		}
	}
}

func parse(t *testing.T, tag string) version.Version {
	t.Helper()
	v, err := version.Parse(tag)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
