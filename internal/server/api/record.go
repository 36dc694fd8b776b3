package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/trackrecord"
)

// A recordHandler shows operators what became of the actions in a repository.
type recordHandler struct {
	read  func(ctx context.Context, repo string) (trackrecord.Report, error) // nil: not found
	repos []string
}

// report answers with the report on a repository, which may be left out if there is only one.
func (h *recordHandler) report(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	if h.read == nil || len(h.repos) == 0 {
		return &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	asked := r.URL.Query().Get("repo")
	i := slices.IndexFunc(h.repos, func(name string) bool { return strings.EqualFold(name, asked) })
	switch {
	case asked == "" && len(h.repos) == 1:
		i = 0
	case asked == "":
		return &response.Error{Status: http.StatusUnprocessableEntity, Detail: "repo: want one of " + strings.Join(h.repos, ", ")}
	case i < 0:
		return &response.Error{Status: http.StatusNotFound, Detail: "repo: the configuration has no such repository"}
	}
	report, err := h.read(r.Context(), h.repos[i])
	if err != nil {
		return err
	}
	response.JSON(w, r, http.StatusOK, report)
	return nil
}
