package rest

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

var errLimit = errors.New("403 Forbidden: a secondary rate limit")

// TestLimitDuringProbe checks that a probe's success does not end a limit that began while the probe
// was on its way.
func TestLimitDuringProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHold("mona", nil)
		h.limit(true, time.Now(), 10*time.Second, errLimit)
		time.Sleep(10 * time.Second)
		h.enter(time.Now(), false).leave(time.Now(), true)
		probe := h.enter(time.Now(), true)
		if h.enter(time.Now(), true).probe == nil {
			t.Fatal("got no probe of a write")
		}
		h.limit(false, time.Now(), 600*time.Second, errLimit)
		end := h.Until(time.Now())
		probe.leave(time.Now(), true)
		if got := h.Until(time.Now()); got.IsZero() || !got.Equal(end) {
			t.Errorf("the limit ends at %v, want %v", got, end)
		}
		time.Sleep(time.Until(end))
		if h.enter(time.Now(), false).leave == nil {
			t.Error("got no probe after the end of the limit")
		}
	})
}

// TestLongProbe checks that a request waits at most MaxWait for a probe, and that the error has the
// reason of the limit.
func TestLongProbe(t *testing.T) {
	t.Parallel()
	for _, write := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHold("mona", nil)
			h.limit(write, time.Now(), 10*time.Second, errLimit)
			time.Sleep(10 * time.Second)
			method := http.MethodGet
			if write {
				h.enter(time.Now(), false).leave(time.Now(), true)
				method = http.MethodPost
			}
			probe := h.enter(time.Now(), write)
			const long = time.Hour
			time.AfterFunc(long, func() { probe.leave(time.Now(), true) })
			req, err := http.NewRequestWithContext(t.Context(), method, "http://github.test/", nil)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			via := newTransport(Options{Hold: h, MaxWait: time.Minute, Transport: http.NewFileTransport(http.Dir(t.TempDir()))})
			resp, err := via.RoundTrip(req)
			if err == nil {
				resp.Body.Close()
			}
			limit, ok := errors.AsType[*LimitError](err)
			if got := time.Since(start); got != time.Minute || !ok || limit.Wait != defaultRequestTimeout || !errors.Is(err, errLimit) {
				t.Errorf("write %t: got %v after %v, want a LimitError with its reason after 1m", write, err, got)
			}
			time.Sleep(long)
		})
	}
}
