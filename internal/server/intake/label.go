package intake

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// labelEvent is GitHub's name of the event about a repository's labels. It needs no task.
const labelEvent = "label"

// maxLabelEvent is how many bytes of a label event are read. GitHub's have some 10 KB, most of them about
// the repository.
const maxLabelEvent = 1 << 20

// changeLabel reports a change of a label.
func (h *Webhook) changeLabel(w http.ResponseWriter, r *http.Request, body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, maxLabelEvent+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxLabelEvent:
		return request.TooLarge(maxLabelEvent)
	}
	c, err := parseLabel(data)
	if err != nil {
		return &response.Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	}
	h.label(c)
	response.JSON(w, r, http.StatusAccepted, webhookAnswer{Result: "ignored", Reason: "a change of a label needs no task"})
	return nil
}

// parseLabel parses a label event.
func parseLabel(data []byte) (github.LabelChange, error) {
	var in struct {
		Action string `json:"action"`
		Label  struct {
			NodeID string `json:"node_id"`
			Name   string `json:"name"`
		} `json:"label"`
		Changes struct {
			Name struct {
				From string `json:"from"`
			} `json:"name"`
		} `json:"changes"`
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	}
	if json.Unmarshal(data, &in) != nil {
		return github.LabelChange{}, errors.New("parse the label event: it is no JSON of such an event")
	}
	if _, _, ok := protocol.SplitRepo(in.Repository.FullName); !ok {
		return github.LabelChange{}, errors.New("parse the label event: it has no repository")
	}
	if in.Label.Name == "" {
		return github.LabelChange{}, errors.New("parse the label event: it has no label")
	}
	return github.LabelChange{
		Repo: in.Repository.FullName, Label: triage.LabelID{ID: in.Label.NodeID, Name: in.Label.Name},
		Former: in.Changes.Name.From, Deleted: in.Action == "deleted",
	}, nil
}
