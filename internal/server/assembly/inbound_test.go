package assembly

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/queue"
)

// TestDashboardBehindTLS checks that the dashboard's cookies are restricted to HTTPS behind a proxy
// that terminates TLS, although the server itself receives plain HTTP.
func TestDashboardBehindTLS(t *testing.T) {
	t.Parallel()
	for _, behind := range []bool{false, true} {
		s := &serverconfig.Config{Server: serverconfig.Server{
			Host: "127.0.0.1", BehindTLS: behind, Operators: []serverconfig.Operator{{Name: "ada", Secret: "a-long-enough-secret"}},
		}, Runner: &config.Config{}}
		c, err := Credentials(s)
		if err != nil {
			t.Fatal(err)
		}
		page, err := newDashboard(s, inbound{credentials: c}, dashboard.Options{Queue: queue.New(queue.Options{})})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("name=ada&secret=a-long-enough-secret"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		cookies := w.Result().Cookies()
		if len(cookies) != 1 || cookies[0].Secure != behind {
			t.Errorf("behind_tls %v: got %v", behind, cookies)
		}
	}
}

// TestDashboardShadow checks that the dashboard says so if the server writes nothing.
func TestDashboardShadow(t *testing.T) {
	t.Parallel()
	for _, mode := range []config.Mode{config.ModeApply, config.ModeShadow} {
		s := &serverconfig.Config{Server: serverconfig.Server{Host: "127.0.0.1"}, Runner: &config.Config{Mode: mode}}
		c, err := Credentials(s)
		if err != nil {
			t.Fatal(err)
		}
		page, err := newDashboard(s, inbound{credentials: c}, dashboard.Options{Queue: queue.New(queue.Options{})})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
		r.RemoteAddr = "127.0.0.1:9"
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if got := strings.Contains(w.Body.String(), "Shadow mode."); got != (mode == config.ModeShadow) {
			t.Errorf("mode %s: got %v in\n%s", mode, got, w.Body)
		}
	}
}
