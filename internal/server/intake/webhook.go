package intake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/triage"
)

// The headers of a delivery.
const (
	headerEvent     = "X-Github-Event"
	headerDelivery  = "X-Github-Delivery"
	headerSignature = "X-Hub-Signature-256"
)

// A Webhook receives deliveries of GitHub. It is safe for concurrent use.
type Webhook struct {
	intake  *Intake
	secrets [][]byte
	bodies  *request.Limiter
}

// NewWebhook returns a Webhook that enqueues tasks for the events of issues and comments.
// The secrets are those that GitHub may sign with: several while one is being replaced. Without
// any the webhook is off; then the Intake may be nil.
func NewWebhook(in *Intake, secrets []secret.Text) (*Webhook, error) {
	if in == nil && len(secrets) > 0 {
		return nil, errors.New("there are secrets of a webhook, and no Intake")
	}
	h := &Webhook{intake: in, bodies: request.NewLimiter(64)}
	for _, s := range secrets {
		if s == "" {
			return nil, errors.New("a secret of the webhook is empty")
		}
		h.secrets = append(h.secrets, []byte(string(s)))
	}
	return h, nil
}

// A webhookAnswer is the body of the answer, which GitHub shows beside the delivery.
type webhookAnswer struct {
	Result string `json:"result"`            // "added", "duplicate", "coalesced" or "ignored"
	Task   string `json:"task_id,omitempty"` // the task for the event
	Reason string `json:"reason,omitempty"`  // why the event was ignored
}

// Handle receives one delivery. It answers once the task is stored in the queue; the task is
// worked on later. Errors are of type *response.Error or those of the queue.
func (h *Webhook) Handle(w http.ResponseWriter, r *http.Request) error {
	if len(h.secrets) == 0 {
		return &response.Error{Status: http.StatusNotFound, Detail: "the webhook is off: no secret is configured for it"}
	}
	// The headers are checked before the body is read.
	signature, err := signatureOf(r.Header)
	if err != nil {
		return err
	}
	event, delivery := r.Header.Get(headerEvent), r.Header.Get(headerDelivery)
	if !validDelivery(delivery) {
		return unprocessable("X-GitHub-Delivery is not the id of a delivery")
	}
	if event == "" {
		return unprocessable("X-GitHub-Event is missing")
	}
	release, err := h.bodies.Acquire(r)
	if err != nil {
		return err
	}
	defer release()
	body, err := request.Read(w, r, request.MaxWebhook)
	if err != nil {
		return err
	}
	if !h.signed(body, signature) {
		return unsigned()
	}
	switch {
	case event == "ping":
		response.JSON(w, r, http.StatusOK, webhookAnswer{Result: "ignored", Reason: "pong"})
		return nil
	case triage.SubjectOf(event) == triage.SubjectIssue:
		return h.enqueue(w, r, body)
	}
	accepted := strings.Join(triage.EventNames(triage.SubjectIssue), " and ")
	response.JSON(w, r, http.StatusAccepted, webhookAnswer{Result: "ignored", Reason: "only the events " + accepted + " are taken"})
	return nil
}

// enqueue enqueues the task of an event about an issue.
func (h *Webhook) enqueue(w http.ResponseWriter, r *http.Request, body []byte) error {
	event := r.Header.Get(headerEvent)
	e, err := triage.ParseEvent(triage.EventSource{Name: event, File: "payload", Payload: payload(r.Header, body)})
	if err != nil {
		return unprocessable(err.Error())
	}
	ctx, cancel := request.StoreContext(r.Context())
	defer cancel()
	got, err := h.intake.Take(ctx, Arrival{
		Event:  e,
		Origin: Origin{Delivery: r.Header.Get(headerDelivery), Source: SourceWebhook},
		Dedup:  dedupKey(event, body),
	})
	if err != nil {
		return err
	}
	answer := webhookAnswer{Result: string(got.Result), Task: got.Task, Reason: got.Reason}
	if got.Task == "" {
		answer.Result = "ignored"
	}
	response.JSON(w, r, http.StatusAccepted, answer)
	return nil
}

func validDelivery(id string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
	return id != "" && len(id) <= 100 && strings.Trim(id, allowed) == ""
}

// dedupKey returns the key by which a repeated event is recognized. It is made of the body,
// because only the body is signed: a stolen delivery could be sent again with any id. A
// redelivery has the same body. Two events have different ones, as they contain what
// happened and when, to the second. Events of one second that are alike in everything, such
// as a label added, removed and added again, count as one: whoever looks at the issue later
// sees no difference.
func dedupKey(event string, body []byte) string {
	sum := sha256.New()
	sum.Write([]byte(event + "\n"))
	sum.Write(body)
	return "webhook:" + hex.EncodeToString(sum.Sum(nil))
}

// payload returns the event in a body. A webhook can be configured to send a form.
func payload(h http.Header, body []byte) []byte {
	if !strings.HasPrefix(h.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return body
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil // which is no event
	}
	return []byte(form.Get("payload"))
}

// signatureOf returns the HMAC in the headers of a delivery.
func signatureOf(h http.Header) ([]byte, error) {
	text, ok := strings.CutPrefix(h.Get(headerSignature), "sha256=")
	mac, err := hex.DecodeString(text)
	if !ok || err != nil || len(mac) != sha256.Size {
		return nil, unsigned()
	}
	return mac, nil
}

// signed reports whether the body was signed with one of the secrets. It tries them all, so
// that the time does not depend on which it was.
func (h *Webhook) signed(body, signature []byte) bool {
	found := false
	for _, s := range h.secrets {
		mac := hmac.New(sha256.New, s)
		mac.Write(body)
		if hmac.Equal(mac.Sum(nil), signature) {
			found = true
		}
	}
	return found
}

func unsigned() error {
	return &response.Error{
		Status:  http.StatusUnauthorized,
		Detail:  "X-Hub-Signature-256 is missing, or not made with a secret that is configured here",
		Warning: response.WrongSignature,
	}
}

func unprocessable(detail string) error {
	return &response.Error{Status: http.StatusUnprocessableEntity, Detail: detail}
}
