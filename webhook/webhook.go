// Package webhook receives the deliveries of GitHub's webhooks: it checks their signatures, limits
// their sizes, and parses their events.
//
// [Parse] does all of this for one request. A server that stores bodies before it parses them calls
// [ParseHeader], and writes the body to the [Incoming].
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/triage"
)

// MaxBody is the maximum size of a delivery in bytes, which is GitHub's own limit.
const MaxBody = 25 << 20

// The limits of an event about an issue. GitHub's texts have at most 65,536 characters, each of
// which takes at most 6 bytes, and an event contains three such texts.
const (
	maxText  = 512 << 10 // bytes of a text; longer ones are truncated
	maxEvent = 4 << 20   // bytes, after truncating texts
)

// The headers of a delivery.
const (
	headerEvent     = "X-Github-Event"
	headerDelivery  = "X-Github-Delivery"
	headerSignature = "X-Hub-Signature-256"
)

// formType is the other content type that GitHub offers, besides JSON.
const formType = "application/x-www-form-urlencoded"

// ErrSignature means that a delivery is not signed with one of the secrets. A server answers it
// with 401.
var ErrSignature = errors.New("X-Hub-Signature-256 is missing, or not made with a secret that is configured here")

// Parse reads a delivery and returns its event and the id of the delivery. secrets are the secrets
// with which GitHub may sign; there are several while one is being replaced. A call without a
// secret, or with an empty one, is an error.
//
// Errors are ErrSignature; [triage.ErrUnsupported] for a signed ping and for other events that are
// not about an issue or a pull request, together with the id of the delivery; *[http.MaxBytesError]
// for a body that is too long; and others for headers, bodies and events that are invalid.
//
// Only the body is signed: a stolen delivery can be sent again under another id, and with the name
// of another event. Long texts of the event are truncated, and Parse needs at most a few times 4 MB
// of memory.
func Parse(r *http.Request, secrets ...string) (_ triage.Delivery, deliveryID string, _ error) {
	in, err := ParseHeader(r.Header, secrets...)
	if err != nil {
		return triage.Delivery{}, "", err
	}
	if r.ContentLength > MaxBody {
		return triage.Delivery{}, "", &http.MaxBytesError{Limit: MaxBody}
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body := io.TeeReader(http.MaxBytesReader(nil, r.Body, MaxBody), in)
	data, loadErr := in.load(body)
	// The signature covers also what load did not read.
	if _, err := io.Copy(io.Discard, body); err != nil {
		return triage.Delivery{}, "", fmt.Errorf("read a delivery: %w", err)
	}
	if err := in.Verify(); err != nil {
		return triage.Delivery{}, "", err
	}
	if loadErr != nil {
		return triage.Delivery{}, in.ID, loadErr
	}
	d, err := in.parse(data)
	return d, in.ID, err
}

// An Incoming is a delivery whose headers were read. The caller writes the whole body to it, and
// then calls its other methods. Only one goroutine may use it.
type Incoming struct {
	Event string // the name of the event, such as "issues"; not signed
	ID    string // of the delivery: letters, digits and "-"; not signed

	form      bool // the body is a form that contains the JSON
	signature []byte
	sum       hash.Hash
	macs      []hash.Hash // one per secret
}

// ParseHeader checks the headers of a delivery. An error that is not ErrSignature is about
// the secrets or another header.
func ParseHeader(h http.Header, secrets ...string) (*Incoming, error) {
	if len(secrets) == 0 {
		return nil, errors.New("the webhook has no secret")
	}
	in := &Incoming{Event: single(h, headerEvent), ID: single(h, headerDelivery), sum: sha256.New()}
	for _, s := range secrets {
		if s == "" {
			return nil, errors.New("a secret of the webhook is empty")
		}
		in.macs = append(in.macs, hmac.New(sha256.New, []byte(s)))
	}
	text, ok := strings.CutPrefix(single(h, headerSignature), "sha256=")
	mac, err := hex.DecodeString(text)
	switch {
	case !ok || err != nil || len(mac) != sha256.Size:
		return nil, ErrSignature
	case !validID(in.ID):
		return nil, errors.New("X-GitHub-Delivery is not the id of a delivery")
	case in.Event == "":
		return nil, errors.New("X-GitHub-Event is missing")
	}
	if in.form, err = isForm(h); err != nil {
		return nil, err
	}
	in.signature = mac
	in.sum.Write([]byte(in.Event + "\n"))
	return in, nil
}

// single returns the value of a header, or "" if there is none or more than one.
func single(h http.Header, name string) string {
	if values := h.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

func validID(id string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
	return id != "" && len(id) <= 100 && strings.Trim(id, allowed) == ""
}

// isForm reports whether the body is a form. Without a content type it is JSON.
func isForm(h http.Header) (bool, error) {
	if len(h.Values("Content-Type")) == 0 {
		return false, nil
	}
	kind, _, err := mime.ParseMediaType(single(h, "Content-Type"))
	if err == nil && (kind == "application/json" || kind == formType) {
		return kind == formType, nil
	}
	return false, errors.New("the Content-Type is neither application/json nor " + formType)
}

// Write adds a part of the body. It never fails.
func (in *Incoming) Write(p []byte) (int, error) {
	in.sum.Write(p)
	for _, mac := range in.macs {
		mac.Write(p)
	}
	return len(p), nil
}

// Verify returns ErrSignature unless the body was signed with one of the secrets. It checks all of
// them, so that the time does not reveal which one matches.
func (in *Incoming) Verify() error {
	err := ErrSignature
	for _, mac := range in.macs {
		if hmac.Equal(mac.Sum(nil), in.signature) {
			err = nil
		}
	}
	return err
}

// Key returns a key by which a repeated event is recognized. It is a hash of the body, because only
// the body is signed: a stolen delivery could be sent again with any id. A redelivery has the same
// body. Other events have different bodies, because they contain the action and the time in
// seconds. Identical events within one second count as one, such as a label that is added, removed
// and added again. A later reader of the issue sees no difference.
func (in *Incoming) Key() string { return "webhook:" + hex.EncodeToString(in.sum.Sum(nil)) }

// Decode parses the event in a body, which was written to in before. Its errors are those of
// [Parse].
func (in *Incoming) Decode(body io.Reader) (triage.Delivery, error) {
	if err := in.Verify(); err != nil {
		return triage.Delivery{}, err
	}
	data, err := in.load(body)
	if err != nil {
		return triage.Delivery{}, err
	}
	return in.parse(data)
}

// load reads a body and truncates its long texts.
func (in *Incoming) load(body io.Reader) ([]byte, error) {
	if !in.supported() {
		return nil, nil
	}
	text := maxText
	if in.form {
		text = maxEvent // a form's JSON is still encoded, so the limit of texts does not apply
	}
	data, err := shorten(body, text, maxEvent)
	if errors.Is(err, errTooLong) {
		return nil, &http.MaxBytesError{Limit: maxEvent}
	} else if err != nil {
		return nil, fmt.Errorf("load an event: %w", err)
	}
	return data, nil
}

// supported reports whether GitHub sends such events about issues and pull requests. Other events
// of package triage, such as schedule, exist only in workflows.
func (in *Incoming) supported() bool {
	return in.Event == triage.EventPullRequest || eventkind.SubjectOf(in.Event) == eventkind.Issue
}

func (in *Incoming) parse(data []byte) (triage.Delivery, error) {
	if !in.supported() {
		return triage.Delivery{}, fmt.Errorf("%w: %q", triage.ErrUnsupported, in.Event)
	}
	if in.form {
		form, err := url.ParseQuery(string(data))
		if err != nil {
			form = nil // ParseEvent reports an empty payload
		}
		data = []byte(form.Get("payload"))
	}
	return triage.ParseEvent(triage.EventSource{Name: in.Event, File: "payload", Payload: data})
}
