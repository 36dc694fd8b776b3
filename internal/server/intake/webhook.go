package intake

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/webhook"
)

// A Taker takes an event, as [Intake.Take] does.
type Taker func(ctx context.Context, a Arrival) (Outcome, error)

// WebhookOptions configure a Webhook.
type WebhookOptions struct {
	Take Taker // must be set if there are Secrets
	// Secrets are the secrets with which GitHub may sign; there are several while one is being
	// replaced. Without secrets the webhook is off.
	Secrets []secret.Text
	// Label gets each change of a label of a repository; nil: it is ignored.
	Label    func(c github.LabelChange)
	SpoolDir string           // the folder for long deliveries; see [request.OpenSpool]
	Now      func() time.Time // nil: time.Now
}

// A Webhook receives deliveries of GitHub. It is safe for concurrent use.
type Webhook struct {
	take    Taker
	label   func(c github.LabelChange) // nil: changes of labels are ignored
	secrets []string
	bodies  *request.Limiter
	spool   *request.Spool
	parsing *semaphore.Weighted // of maxParsed bytes
}

// maxShort is how many short deliveries may be received at the same time.
const maxShort = 64

// maxParsed is how many bytes of events are parsed concurrently. Each byte needs about twelve bytes
// of memory.
const maxParsed = 4 << 20

// maxSpooled is how many bytes of long deliveries are kept in files at the same time.
const maxSpooled = 256 << 20

// turnTimeout is how long a complete event may wait to be parsed.
const turnTimeout = time.Minute

// NewWebhook returns a Webhook that takes the events of issues and comments.
func NewWebhook(o WebhookOptions) (*Webhook, error) {
	if o.Take == nil && len(o.Secrets) > 0 {
		return nil, errors.New("the webhook has secrets, but Take is not set")
	}
	h := &Webhook{
		take: o.Take, label: o.Label, bodies: request.NewSpoolLimiter(maxShort, o.Now),
		spool: request.OpenSpool(o.SpoolDir, maxSpooled), parsing: semaphore.NewWeighted(maxParsed),
	}
	for _, s := range o.Secrets {
		if s == "" {
			return nil, errors.New("a secret of the webhook is empty")
		}
		h.secrets = append(h.secrets, string(s))
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
	in, err := webhook.ParseHeader(r.Header, h.secrets...)
	if err != nil {
		return refusal(err)
	}
	release, err := h.bodies.Acquire(r)
	if err != nil {
		return err
	}
	defer release()
	body, err := h.spool.Read(w, r, webhook.MaxBody, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := in.Verify(); err != nil {
		return refusal(err)
	}
	switch {
	case in.Event == "ping":
		response.JSON(w, r, http.StatusOK, webhookAnswer{Result: "ignored", Reason: "pong"})
		return nil
	case in.Event == labelEvent && h.label != nil:
		return h.changeLabel(w, r, body.Reader())
	case eventkind.SubjectOf(in.Event) == eventkind.Issue:
		return h.enqueue(w, r, in, body)
	}
	accepted := strings.Join(eventkind.Names(eventkind.Issue), " and ")
	response.JSON(w, r, http.StatusAccepted, webhookAnswer{Result: "ignored", Reason: "only the events " + accepted + " are accepted"})
	return nil
}

// enqueue enqueues the task of an event about an issue.
func (h *Webhook) enqueue(w http.ResponseWriter, r *http.Request, in *webhook.Incoming, body *request.Spooled) error {
	// GitHub does not redeliver by itself. So a complete delivery is stored even if GitHub no longer
	// waits for the response.
	turn, end := context.WithTimeout(context.WithoutCancel(r.Context()), turnTimeout)
	defer end()
	size := min(body.Size(), maxParsed) // a longer one is parsed alone
	if h.parsing.Acquire(turn, size) != nil {
		return &response.Error{
			Status: http.StatusServiceUnavailable, Detail: "too many bodies are being stored at the moment; try again",
			Header: http.Header{"Retry-After": {"30"}}, Warning: response.TooManyBodies,
		}
	}
	defer h.parsing.Release(size)
	if size > maxParsed/4 {
		defer debug.FreeOSMemory() // otherwise the next one would come on top of it
	}
	ctx, cancel := request.StoreContext(r.Context())
	defer cancel()
	got, err := h.receive(ctx, in, body)
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

// receive makes a task of a body. Errors are those of the event or the queue.
func (h *Webhook) receive(ctx context.Context, in *webhook.Incoming, body *request.Spooled) (Outcome, error) {
	e, err := in.Decode(body.Reader())
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return Outcome{}, err // of the file with the body
	}
	if err != nil {
		return Outcome{}, refusal(err)
	}
	return h.take(ctx, Arrival{
		Event: e, Origin: queue.Origin{Delivery: in.ID, Source: queue.SourceWebhook}, Dedup: in.Key(),
	})
}

// refusal returns the answer to a delivery that package webhook refuses.
func refusal(err error) error {
	if errors.Is(err, webhook.ErrSignature) {
		return &response.Error{Status: http.StatusUnauthorized, Detail: err.Error(), Warning: response.WrongSignature}
	}
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return request.TooLarge(long.Limit)
	}
	return &response.Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
}
