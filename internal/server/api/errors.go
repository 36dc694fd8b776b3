package api

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/queue"
)

// An errorWriter answers requests with errors. It logs warnings, and errors that the client did not
// cause.
type errorWriter struct {
	log      *slog.Logger
	warnings *loglimit.Limiter
}

func (e errorWriter) write(w http.ResponseWriter, r *http.Request, err error) {
	answer, known := errors.AsType[*response.Error](err)
	switch {
	case known:
		e.warn(r, answer)
	case r.Context().Err() != nil && errors.Is(err, context.Canceled):
		// The client may have closed only its sending side. Without this answer it would get status
		// 200.
		answer = &response.Error{Status: http.StatusServiceUnavailable, Detail: "the connection was closed before the response"}
	default:
		answer = errorOf(err)
		if errors.Is(err, queue.ErrUnavailable) {
			// Waiting agents try again every second, however long the outage.
			if e.warnings.Allow("unavailable " + r.URL.Path) {
				e.log.LogAttrs(r.Context(), slog.LevelError, "request failed; further ones in this minute are not logged", slog.String("path", logText(r.URL.Path)), slog.Any("error", err))
			}
		} else if answer.Status >= http.StatusInternalServerError {
			e.log.LogAttrs(r.Context(), slog.LevelError, "request failed", slog.String("path", logText(r.URL.Path)), slog.Any("error", err))
		}
	}
	maps.Copy(w.Header(), answer.Header)
	request.AnswerEarly(w, r, func() {
		response.JSON(w, r, answer.Status, map[string]any{"detail": answer.Detail})
	})
}

// warn logs a warning at most once a minute: per address, or overall for warnings that do not
// depend on the address.
func (e errorWriter) warn(r *http.Request, answer *response.Error) {
	warning := answer.Warning
	if warning == 0 {
		return
	}
	ctx, addr := r.Context(), access.ClientAddr(r)
	path, remote := slog.String("path", logText(r.URL.Path)), slog.String("remote", addr)
	switch {
	case warning == response.UnknownCredential && e.warnings.Allow(addr):
		e.log.LogAttrs(ctx, slog.LevelWarn, "request without a known credential refused; further ones in this minute are not logged", path, remote)
	case warning == response.OtherAgent && e.warnings.Allow("other agent "+addr):
		e.log.LogAttrs(ctx, slog.LevelWarn, "claim refused: the credential is not for tasks of this agent; compare AGENT_URL with the agents of the credential; further ones in this minute are not logged", append(answer.Attrs, path, remote)...)
	case warning == response.InvalidDecision && e.warnings.Allow("decision "+addr):
		e.log.LogAttrs(ctx, slog.LevelWarn, "invalid decision refused; it changed nothing; further ones in this minute are not logged", append(answer.Attrs, path, remote)...)
	case warning == response.WrongSignature && e.warnings.Allow(addr):
		e.log.LogAttrs(ctx, slog.LevelWarn, "webhook with a wrong signature refused; further ones in this minute are not logged", remote)
	case warning == response.NoSpool && e.warnings.Allow("spool"):
		e.log.LogAttrs(ctx, slog.LevelError, "storing a long body failed; check the folder of the database, or TMPDIR with PostgreSQL", path, slog.Any("error", answer.Cause))
	case warning == response.TooManyBodies && e.warnings.Allow("bodies"):
		e.log.LogAttrs(ctx, slog.LevelWarn, "request refused: too many request bodies at once; further ones in this minute are not logged", path, remote)
	}
}

// errorOf returns the answer to an error of the queue. It only discloses what the client can react
// to.
func errorOf(err error) *response.Error {
	switch {
	case errors.Is(err, queue.ErrUnavailable):
		return &response.Error{
			Status: http.StatusServiceUnavailable, Detail: "the queue cannot be written now; try again",
			Header: http.Header{"Retry-After": {"1"}},
		}
	case errors.Is(err, queue.ErrNotYours):
		return &response.Error{Status: http.StatusForbidden, Detail: "the task was claimed with another credential"}
	case errors.Is(err, queue.ErrLost):
		return &response.Error{Status: http.StatusConflict, Detail: "the claim is lost: the task was claimed again, or is no longer claimed"}
	case errors.Is(err, queue.ErrNotFound):
		return &response.Error{Status: http.StatusNotFound, Detail: "there is no such task"}
	case errors.Is(err, queue.ErrChanged):
		return &response.Error{Status: http.StatusConflict, Detail: queue.ErrChanged.Error()}
	case errors.Is(err, queue.ErrState):
		return &response.Error{Status: http.StatusConflict, Detail: "the state of the task does not allow that"}
	}
	return &response.Error{Status: http.StatusInternalServerError, Detail: "Internal Server Error"}
}

// logText returns a client's text sanitized for a log, and shortened to 80 bytes.
func logText(s string) string { return sanitize.Name(s[:min(len(s), 80)]) }
