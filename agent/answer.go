package agent

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// read returns the body of an answer that may contain a decision.
func (c *call) read(ctx context.Context, resp *http.Response) ([]byte, error) {
	r := c.remote
	if err := c.refuse(resp); err != nil {
		return nil, err
	}
	tooLarge := fmt.Errorf("the answer is larger than %d bytes", r.maxBytes)
	if resp.ContentLength > r.maxBytes {
		return nil, r.fail(ReasonTooLarge, resp.StatusCode, tooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, min(r.maxBytes, math.MaxInt64-1)+1))
	switch {
	case int64(len(data)) > r.maxBytes:
		return nil, r.fail(ReasonTooLarge, resp.StatusCode, tooLarge)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return nil, r.fail(ReasonNotJSON, resp.StatusCode, fmt.Errorf("unpack the answer: %w", err))
	case err != nil:
		return nil, c.broken(ctx, resp.StatusCode, fmt.Sprintf("incomplete answer (%d B received)", len(data)), err)
	}
	return data, nil
}

// refuse returns an error if the status means that the answer contains no decision.
func (c *call) refuse(resp *http.Response) error {
	code := resp.StatusCode
	text := "status " + strings.TrimSpace(strconv.Itoa(code)+" "+http.StatusText(code))
	switch {
	case code == http.StatusAccepted, code == http.StatusNoContent:
		text += ": the agent accepted the task without deciding; it fetches tasks from a queue, which needs a server"
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		text += ": redirects are not followed"
		if to, _, _ := strings.Cut(resp.Header.Get("Location"), "?"); to != "" {
			text += " (to " + strconv.Quote(c.secrets.clean(to)) + ")"
		}
	case code >= 400:
		text += c.excerpt(resp)
	}
	return c.remote.fail(ReasonStatus, code, errors.New(text))
}

// excerpt returns the start of a body for the text of an error, or "". It also quotes a truncated
// body, because the status is what matters.
func (c *call) excerpt(resp *http.Response) string {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, scanLimit+1))
	text := c.secrets.clean(string(data))
	if text == "" {
		return ""
	}
	return ": " + strconv.Quote(text)
}

// decode returns the decision in the body of an answer. The decision must be on the task taskID.
func (c *call) decode(resp *http.Response, data []byte, taskID string) (protocol.DecisionMessage, error) {
	m, err := c.parse(resp, data)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	if m.TaskID != taskID {
		err := fmt.Errorf("the answer is for task %s, not %s", strconv.Quote(c.secrets.clean(m.TaskID)), strconv.Quote(taskID))
		return protocol.DecisionMessage{}, c.remote.fail(ReasonWrongTask, resp.StatusCode, err)
	}
	return m, nil
}

// parse decodes the body. Its error describes the first problem.
func (c *call) parse(resp *http.Response, data []byte) (protocol.DecisionMessage, error) {
	r := c.remote
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(data) == 0 {
		return protocol.DecisionMessage{}, r.fail(ReasonNotJSON, resp.StatusCode, errors.New("the answer is empty"))
	}
	m, err := protocol.ParseDecision(data)
	if err == nil {
		return m, nil
	}
	v, ok := errors.AsType[*protocol.ValidationError](err)
	if !ok {
		return protocol.DecisionMessage{}, r.fail(ReasonInvalid, resp.StatusCode, c.hide("decode the answer", err))
	}
	reason := reasonFor(v)
	if reason == ReasonInvalid {
		return protocol.DecisionMessage{}, r.fail(reason, resp.StatusCode, shorten(c.secrets, v))
	}
	err = fmt.Errorf("%w; the answer%s starts %s", shorten(c.secrets, v), c.kind(resp), strconv.Quote(c.secrets.clean(string(data))))
	return protocol.DecisionMessage{}, r.fail(reason, resp.StatusCode, err)
}

// reasonFor returns the reason for an error: an agent sent a decision with mistakes, or the
// answer does not come from an agent at all.
func reasonFor(v *protocol.ValidationError) Reason {
	has := func(code string, path ...string) bool {
		return slices.ContainsFunc(v.Problems, func(p protocol.Problem) bool { return p.Code == code && slices.Equal(p.Path, path) })
	}
	switch {
	case has(protocol.CodeJSON):
		return ReasonNotJSON
	case has(protocol.CodeObject), has(protocol.CodeMissing, "task_id") && has(protocol.CodeMissing, "decision"):
		return ReasonNotDecision
	}
	return ReasonInvalid
}

// kind returns the content type and encoding of an answer, in parentheses, or nothing.
func (c *call) kind(resp *http.Response) string {
	form := c.secrets.clean(resp.Header.Get("Content-Type") + " " + resp.Header.Get("Content-Encoding"))
	if form == "" {
		return ""
	}
	return " (" + form + ")"
}

// shorten returns the error with sanitized messages of limited length, because an unknown
// decision may be as long as the whole answer.
func shorten(s secrets, v *protocol.ValidationError) error {
	short := &protocol.ValidationError{Message: v.Message, Problems: slices.Clone(v.Problems)}
	for i, p := range short.Problems {
		short.Problems[i].Msg = s.clean(p.Msg)
	}
	return short
}
