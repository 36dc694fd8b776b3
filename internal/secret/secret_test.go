package secret_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/secret"
)

func TestText(t *testing.T) {
	t.Parallel()
	const raw = "hunter2"
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%d", "%x", "%t"} {
		if got := fmt.Sprintf(verb, secret.Text(raw)); got != "[secret]" {
			t.Errorf("%s: got %s", verb, got)
		}
	}
	out, err := json.Marshal(map[string]any{"key": secret.Text(raw)})
	if err != nil || strings.Contains(string(out), raw) {
		t.Errorf("got %s, %v", out, err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", secret.Text(raw))
	if strings.Contains(log.String(), raw) {
		t.Errorf("got %s", log.String())
	}
	if got := secret.Text("").String(); got != "" {
		t.Errorf("an empty text: got %q", got)
	}
	if got := string(secret.Text(raw)); got != raw {
		t.Errorf("got %q", got)
	}
}
