package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/queue/queuetest"
)

// Behind something that encrypts, the dashboard's cookies are for HTTPS alone, though the
// server itself hears plain HTTP.
func TestPageBehindTLS(t *testing.T) {
	t.Parallel()
	for _, behind := range []bool{false, true} {
		s := &serverconfig.Config{Server: serverconfig.Server{
			BehindTLS: behind, Operators: []serverconfig.Operator{{Name: "ada", Secret: "a-long-enough-secret"}},
		}}
		c, err := credentials(s)
		if err != nil {
			t.Fatal(err)
		}
		page, err := newPage(&harness{s: s, credentials: c, queue: queuetest.New(queuetest.Options{}), log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/login", nil))
		cookies := w.Result().Cookies()
		if len(cookies) != 1 || cookies[0].Secure != behind {
			t.Errorf("behind_tls %v: got %v", behind, cookies)
		}
	}
}
