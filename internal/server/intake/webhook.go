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
	budget  *request.Budget // bounds the bytes that are parsed at the same time
}

// maxShort is how many short deliveries may be received at the same time.
const maxShort = 64

// The limits of an event about an issue. GitHub's texts have at most 65,536 characters, each of
// which takes at most 6 bytes, and an event contains three such texts.
const (
	maxText  = 512 << 10 // bytes of a text; longer ones are truncated
	maxEvent = 4 << 20   // bytes, after truncating texts
)

// maxParsed is how many bytes of events are parsed concurrently. Each byte needs about twelve bytes
// of memory.
const maxParsed = maxEvent

// maxSpooled is how many bytes of long deliveries are kept in files at the same time.
const maxSpooled = 256 << 20

// turnTimeout is how long a complete event may wait to be parsed.
const turnTimeout = time.Minute

// NewWebhook returns a Webhook that enqueues tasks for the events of issues and comments. secrets
// are the secrets with which GitHub may sign; there are several while one is being replaced.
// Without secrets the webhook is off, and the Intake may be nil. Long deliveries are stored in
// files in the folder dir; see [request.OpenSpool].
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

// Handle receives one delivery. It answers after the task is stored in the queue; an agent
// processes the task later. Errors are of type *response.Error or from the queue.
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
	response.JSON(w, r, http.StatusAccepted, webhookAnswer{Result: "ignored", Reason: "only the events " + accepted + " are accepted"})
	return nil
}

// enqueue enqueues the task of an event about an issue.
func (h *Webhook) enqueue(w http.ResponseWriter, r *http.Request, body *request.Spooled, dedup string) error {
	// GitHub does not redeliver by itself. So a complete delivery is stored even if GitHub no longer
	// waits for the response.
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
		text = maxEvent // a form's JSON is still encoded, so the limit of texts does not apply
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
	macs []hash.Hash // one per secret
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

// dedupKey returns the key by which a repeated event is recognized. It is a hash of the body,
// because only the body is signed: a stolen delivery could be sent again with any id. A redelivery
// has the same body. Other events have different bodies, because they contain the action and the
// time in seconds. Identical events within one second count as one, such as a label that is added,
// removed and added again. A later reader of the issue sees no difference.
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
		return nil // parsing the event will fail
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

// signed reports whether the body was signed with one of the secrets. It checks all of them, so
// that the time does not reveal which one matches.
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
