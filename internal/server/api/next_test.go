package api

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

func TestWithClaim(t *testing.T) {
	t.Parallel()
	const claim = `"claim":{"attempt":12,"lease_seconds":90}}`
	for message, want := range map[string]string{
		`{}`:                      `{` + claim,
		"{ } \n":                  `{` + claim,
		`{"a":{}}`:                `{"a":{},` + claim,
		"{\"a\":\"}\"\n}\r\n":     `{"a":"}",` + claim,
		`{"claim":{"attempt":1}}`: `{"claim":{"attempt":1},` + claim,
	} {
		object, member := withClaim(queue.Claim{Message: []byte(message), Attempt: 12}, 90*time.Second)
		if got := string(object) + string(member); got != want {
			t.Errorf("%q: got %s, want %s", message, got, want)
		}
	}
	object, member := withClaim(queue.Claim{Message: []byte(`{}`), Attempt: 1}, time.Millisecond)
	if got, want := string(object)+string(member), `{"claim":{"attempt":1,"lease_seconds":1}}`; got != want {
		t.Errorf("a short lease: got %s, want %s", got, want)
	}
}
