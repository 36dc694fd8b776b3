package roundtrip_test

import (
	"net/http"
	"testing"

	"github.com/org/foreman-action/internal/roundtrip"
)

func TestNew(t *testing.T) {
	t.Parallel()
	one, other := roundtrip.New(), roundtrip.New()
	one.DisableKeepAlives = true
	if one == other || other.DisableKeepAlives || http.RoundTripper(one) == http.DefaultTransport || one.Proxy == nil || !one.ForceAttemptHTTP2 {
		t.Errorf("got %+v and %+v, want two copies of the default one", one, other)
	}
}
