package secret_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/secret"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
		secrets          []string
	}{
		{"none", "hunter2", "hunter2", nil},
		{"everywhere", "hunter2, and hunter2", "***, and ***", []string{"hunter2"}},
		{"one in another", "hunter2-and-more", "***", []string{"hunter2", "hunter2-and-more"}},
		{"the shortest", "the code is 1234", "the code is ***", []string{"1234"}},
		{"shorter ones", "it is at the door", "it is at the door", []string{"", "a", "the"}},
	}
	for _, tt := range tests {
		if got := secret.Redact(tt.text, tt.secrets...); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

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
