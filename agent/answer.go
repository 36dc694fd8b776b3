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
	"strconv"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// maxProblems bounds the problems of one answer that are told.
const maxProblems = 10

// read returns the body of an answer that may hold a decision.
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
		return nil, c.broken(ctx, resp.StatusCode, fmt.Sprintf("no complete answer (%d bytes came)", len(data)), err)
	}
	return data, nil
}

// refuse returns an error for a status that carries no decision.
func (c *call) refuse(resp *http.Response) error {
	code := resp.StatusCode
	text := "status " + strings.TrimSpace(strconv.Itoa(code)+" "+http.StatusText(code))
	switch {
	case code == http.StatusAccepted, code == http.StatusNoContent:
		text += ": the agent took the task without deciding; it fetches tasks from a queue, which needs a server"
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

// excerpt returns the start of a body for an error's text, or nothing. A body that
// breaks off is quoted as far as it came: the status is what matters.
func (c *call) excerpt(resp *http.Response) string {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, scanLimit+1))
	text := c.secrets.clean(string(data))
	if text == "" {
		return ""
	}
	return ": " + strconv.Quote(text)
}

// decode returns the decision on the task in an answer's body.
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

// parse decodes the body, and says what is wrong with it.
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
	reason := ReasonInvalid
	for _, p := range v.Problems {
		if p.Code == protocol.CodeJSON {
			reason = ReasonNotJSON
		}
	}
	return protocol.DecisionMessage{}, r.fail(reason, resp.StatusCode, c.shorten(v))
}

// shorten returns the error with few problems and short, clean messages: an answer
// of a megabyte can hold very many, and very long ones.
func (c *call) shorten(v *protocol.ValidationError) error {
	short := &protocol.ValidationError{Message: v.Message}
	for _, p := range v.Problems[:min(maxProblems, len(v.Problems))] {
		p.Msg = c.secrets.clean(p.Msg)
		short.Problems = append(short.Problems, p)
	}
	if more := len(v.Problems) - len(short.Problems); more > 0 {
		return fmt.Errorf("%w; and %d more", short, more)
	}
	return short
}
