package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/server/guard"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/triage"
)

// A hookAnswer is what a webhook is answered with: GitHub shows it beside the delivery.
type hookAnswer struct {
	Result string `json:"result"`            // "added", "duplicate", "coalesced" or "ignored"
	Task   string `json:"task_id,omitempty"` // that stands for the event
	Reason string `json:"reason,omitempty"`  // why it was ignored
}

// webhook takes an event from GitHub. It is answered when the task is in the queue, and
// before anything is done about it.
func (s *Server) webhook(c *call) error {
	if len(s.secrets) == 0 {
		return &refusal{status: http.StatusNotFound, detail: "the webhook is off: no secret is configured for it"}
	}
	// What can be seen in the headers is seen before the body is read.
	mac, err := s.signature(c.r)
	if err != nil {
		return err
	}
	h := hook{name: c.r.Header.Get("X-Github-Event"), delivery: c.r.Header.Get("X-Github-Delivery")}
	if err := h.check(); err != nil {
		return err
	}
	leave, err := s.enter(s.hooks, c.r)
	if err != nil {
		return err
	}
	defer leave()
	b := buffer()
	defer release(b)
	if h.body, err = c.read(b, maxWebhook); err != nil {
		return err
	}
	if !s.signed(h.body, mac) {
		return s.unsigned(c.r)
	}
	switch h.name {
	case "ping":
		c.reply(http.StatusOK, hookAnswer{Result: "ignored", Reason: "pong"})
		return nil
	case triage.EventIssues, triage.EventIssueComment:
		return s.hooked(c, h)
	}
	c.reply(http.StatusAccepted, hookAnswer{Result: "ignored", Reason: "only the events issues and issue_comment are taken"})
	return nil
}

// A hook is one delivery.
type hook struct {
	name, delivery string
	body           []byte
}

func (h hook) check() error {
	if h.delivery == "" || len(h.delivery) > 100 || strings.Trim(h.delivery, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return &refusal{status: http.StatusUnprocessableEntity, detail: "X-GitHub-Delivery is not the id of a delivery"}
	}
	if h.name == "" {
		return &refusal{status: http.StatusUnprocessableEntity, detail: "X-GitHub-Event is missing"}
	}
	return nil
}

// dedup is by what an event is recognised that comes again. Only the body is signed: who
// got hold of a delivery could send it again under any id. A redelivery has the same body;
// two events have not, for it tells what happened, to what, and when, to the second. Those
// of one second that are alike in everything, as a label that was put on, taken off and
// put on again, are one event for whoever is to look at the issue as it is now.
func (h hook) dedup() string {
	sum := sha256.New()
	_, _ = io.WriteString(sum, h.name+"\n") // a hash takes everything
	_, _ = sum.Write(h.body)
	return "webhook:" + hex.EncodeToString(sum.Sum(nil))
}

// hooked takes an event that is about an issue.
func (s *Server) hooked(c *call, h hook) error {
	e, err := triage.ParseEvent(triage.EventSource{Name: h.name, File: "payload", Payload: payload(c.r, h.body)})
	if err != nil {
		return &refusal{status: http.StatusUnprocessableEntity, detail: err.Error()}
	}
	ctx, cancel := lasting(c.r)
	defer cancel()
	got, err := s.o.Intake.Take(ctx, intake.Arrival{
		Event:  e,
		Origin: intake.Origin{Delivery: h.delivery, Source: intake.SourceWebhook},
		Dedup:  h.dedup(),
	})
	if err != nil {
		return err
	}
	answer := hookAnswer{Result: string(got.How), Task: got.Task, Reason: got.Reason}
	if got.Task == "" {
		answer.Result = "ignored"
	}
	c.reply(http.StatusAccepted, answer)
	return nil
}

// payload returns the event in a body: a webhook may be set up to send a form.
func payload(r *http.Request, body []byte) []byte {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return body
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil // and nothing is no event
	}
	return []byte(form.Get("payload"))
}

// signature reads that of a delivery.
func (s *Server) signature(r *http.Request) ([]byte, error) {
	text, ok := strings.CutPrefix(r.Header.Get("X-Hub-Signature-256"), "sha256=")
	mac, err := hex.DecodeString(text)
	if !ok || err != nil || len(mac) != sha256.Size {
		return nil, s.unsigned(r)
	}
	return mac, nil
}

// unsigned refuses what GitHub did not sign.
func (s *Server) unsigned(r *http.Request) error {
	if from := guard.From(r); s.wrong.Tell(from) {
		s.log.LogAttrs(r.Context(), slog.LevelWarn, "webhook with a wrong signature refused; further ones of this minute are not told", slog.String("remote", from))
	}
	return &refusal{status: http.StatusUnauthorized, detail: "X-Hub-Signature-256 is missing, or not made with a secret that is configured here"}
}

// signed reports whether one of the secrets made the signature. All of them are tried,
// whichever it was.
func (s *Server) signed(body, got []byte) bool {
	found := false
	for _, secret := range s.secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		if hmac.Equal(mac.Sum(nil), got) {
			found = true
		}
	}
	return found
}
