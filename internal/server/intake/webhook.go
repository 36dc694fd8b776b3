package intake

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"time"

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
	spool   *request.Spool
	budget  *request.Budget // of bytes that are parsed at the same time
}

// maxShort is how many short deliveries may be received at the same time.
const maxShort = 64

// The bounds of an event about an issue. GitHub's texts have 65,536 characters, which take at
// most 6 bytes each, and an event has three of them.
const (
	maxText  = 512 << 10 // bytes; longer texts are cut
	maxEvent = 4 << 20   // bytes, with texts that are cut
)

// maxParsed is how many bytes of events are parsed at the same time: each takes about twelve
// bytes of memory.
const maxParsed = maxEvent

// maxSpooled is how many bytes of long deliveries are kept in files at the same time.
const maxSpooled = 256 << 20

// turnTimeout is how long an event that arrived whole waits to be parsed.
const turnTimeout = time.Minute

// NewWebhook returns a Webhook that enqueues tasks for the events of issues and comments.
// The secrets are those that GitHub may sign with: several while one is being replaced. Without
// any the webhook is off; then the Intake may be nil. Long deliveries are kept in files in the
// folder dir, see [request.OpenSpool].
func NewWebhook(in *Intake, secrets []secret.Text, dir string) (*Webhook, error) {
	if in == nil && len(secrets) > 0 {
		return nil, errors.New("the webhook has secrets, but Intake is not set")
	}
	h := &Webhook{
		intake: in, bodies: request.NewSpoolLimiter(maxShort),
		spool: request.OpenSpool(dir, maxSpooled), budget: request.NewBudget(maxParsed),
	}
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
	digest := h.newDigest(event)
	body, err := h.spool.Read(w, r, request.MaxWebhook, digest)
	if err != nil {
		return err
	}
	defer body.Close()
	if !digest.signed(signature) {
		return unsigned()
	}
	switch {
	case event == "ping":
		response.JSON(w, r, http.StatusOK, webhookAnswer{Result: "ignored", Reason: "pong"})
		return nil
	case triage.SubjectOf(event) == triage.SubjectIssue:
		return h.enqueue(w, r, body, digest.dedupKey())
	}
	accepted := strings.Join(triage.EventNames(triage.SubjectIssue), " and ")
	response.JSON(w, r, http.StatusAccepted, webhookAnswer{Result: "ignored", Reason: "only the events " + accepted + " are taken"})
	return nil
}

// enqueue enqueues the task of an event about an issue.
func (h *Webhook) enqueue(w http.ResponseWriter, r *http.Request, body *request.Spooled, dedup string) error {
	// GitHub does not deliver again by itself: what arrived whole is stored also when GitHub no
	// longer waits for the answer.
	turn, end := context.WithTimeout(context.WithoutCancel(r.Context()), turnTimeout)
	defer end()
	release, err := h.budget.Acquire(turn, body.Size())
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := request.StoreContext(r.Context())
	defer cancel()
	got, err := h.take(ctx, r.Header, body, dedup)
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

// take makes a task of a body. Errors are those of the event or the queue.
func (h *Webhook) take(ctx context.Context, header http.Header, body *request.Spooled, dedup string) (Outcome, error) {
	text := maxText
	if isForm(header) {
		text = maxEvent // it has no JSON texts yet
	}
	data, err := shorten(body.Reader(), text, maxEvent)
	if errors.Is(err, errTooLong) {
		return Outcome{}, request.TooLarge(maxEvent)
	} else if err != nil {
		return Outcome{}, fmt.Errorf("load an event: %w", err)
	}
	e, err := triage.ParseEvent(triage.EventSource{Name: header.Get(headerEvent), File: "payload", Payload: payload(header, data)})
	if err != nil {
		return Outcome{}, unprocessable(err.Error())
	}
	return h.intake.Take(ctx, Arrival{
		Event: e, Origin: Origin{Delivery: header.Get(headerDelivery), Source: SourceWebhook}, Dedup: dedup,
	})
}

func validDelivery(id string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
	return id != "" && len(id) <= 100 && strings.Trim(id, allowed) == ""
}

// A digest holds the hashes of a body, computed while it arrives.
type digest struct {
	sum  hash.Hash
	macs []hash.Hash // one for each secret
}

func (h *Webhook) newDigest(event string) *digest {
	d := &digest{sum: sha256.New()}
	d.sum.Write([]byte(event + "\n"))
	for _, s := range h.secrets {
		d.macs = append(d.macs, hmac.New(sha256.New, s))
	}
	return d
}

// Write implements io.Writer. It never fails.
func (d *digest) Write(p []byte) (int, error) {
	d.sum.Write(p)
	for _, mac := range d.macs {
		mac.Write(p)
	}
	return len(p), nil
}

// dedupKey returns the key by which a repeated event is recognized. It is made of the body,
// because only the body is signed: a stolen delivery could be sent again with any id. A
// redelivery has the same body. Two events have different ones, as they contain what
// happened and when, to the second. Events of one second that are alike in everything, such
// as a label added, removed and added again, count as one: whoever looks at the issue later
// sees no difference.
func (d *digest) dedupKey() string { return "webhook:" + hex.EncodeToString(d.sum.Sum(nil)) }

func isForm(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "application/x-www-form-urlencoded")
}

// payload returns the event in a body. A webhook can be configured to send a form.
func payload(h http.Header, body []byte) []byte {
	if !isForm(h) {
		return body
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil // which is not an event
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
func (d *digest) signed(signature []byte) bool {
	found := false
	for _, mac := range d.macs {
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
