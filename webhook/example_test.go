package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/org/foreman-action/triage"
	"github.com/org/foreman-action/webhook"
)

// This handler receives the webhook of a repository or of a GitHub App.
func ExampleParse() {
	const secret = "it's a secret to everybody" // from the settings of the webhook
	handler := func(w http.ResponseWriter, r *http.Request) {
		delivery, id, err := webhook.Parse(r, secret)
		switch {
		case errors.Is(err, webhook.ErrSignature):
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case errors.Is(err, triage.ErrUnsupported):
			w.WriteHeader(http.StatusNoContent) // such as the ping of a new webhook
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			fmt.Println(id, delivery.Key(), delivery.Ref(), delivery.Issue.Title)
			w.WriteHeader(http.StatusAccepted)
		}
	}

	// GitHub sends such a request.
	body := `{"action": "opened", "issue": {"number": 7, "title": "It crashes"}, "repository": {"full_name": "octo-org/hello"}}`
	r := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Github-Event", "issues")
	r.Header.Set("X-Github-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	w := httptest.NewRecorder()
	handler(w, r)
	fmt.Println(w.Code)

	// Output:
	// 72d3162e-cc78-11e3-81ab-4c9367dc0958 issues.opened octo-org/hello#7 It crashes
	// 202
}
