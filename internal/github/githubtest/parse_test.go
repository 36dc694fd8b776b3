package githubtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFault(t *testing.T) {
	t.Parallel()
	got, err := ParseFault(strings.Fields("POST /a/*/b status=503 nth=2 times=-1 header=Retry-After:7 body={\"message\":\"a_b\"} cutafter cutbefore"))
	if err != nil {
		t.Fatal(err)
	}
	want := Fault{
		Method: "POST", Path: "/a/*/b", Status: 503, Nth: 2, Times: -1, CutAfter: true, CutBefore: true,
		Header: map[string]string{"Retry-After": "7"}, Body: `{"message":"a b"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "POST", "POST /x status=x", "POST /x nth=", "POST /x sometimes"} {
		if f, err := ParseFault(strings.Fields(bad)); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, f)
		}
	}
}
