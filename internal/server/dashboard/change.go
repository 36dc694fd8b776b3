package dashboard

import (
	"context"
	"errors"
	"net/http"

	"github.com/org/foreman-action/queue"
)

// A button is what an operator can do with a task.
type button struct {
	did string // for the page after it
	do  func(ctx context.Context, q queue.Queue, id, by string) error
}

// retry is the button that takes a task up again.
func retry() button {
	return button{"retried", func(ctx context.Context, q queue.Queue, id, by string) error {
		_, err := q.Retry(ctx, id, by)
		return err
	}}
}

// cancel is the button that gives a task up.
func cancel() button {
	return button{"cancelled", func(ctx context.Context, q queue.Queue, id, by string) error {
		return q.Cancel(ctx, id, by)
	}}
}

// change carries out a button, for an operator who has the form's token.
func (d *Dashboard) change(b button) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := d.visitor(r)
		if d.o.Operators == nil {
			d.show(w, r, shown{status: http.StatusForbidden, problem: "Nobody can change tasks here: no operators are configured. Use \"foremand queue\"."})
			return
		}
		if !d.admitted(w, r, v) {
			return
		}
		if !d.sessions.valid(v.session, r.PostFormValue("token")) {
			d.show(w, r, shown{status: http.StatusForbidden, problem: tooOld, v: v})
			return
		}
		id := r.PathValue("id")
		err := b.do(r.Context(), d.o.Queue, id, v.operator)
		d.reader.changed()
		switch {
		case errors.Is(err, queue.ErrState):
			d.showTask(w, r, shown{status: http.StatusConflict, v: v, problem: "Nothing was changed: the task is not in a state that allows it any more."})
		case errors.Is(err, queue.ErrNotFound):
			d.show(w, r, shown{status: http.StatusNotFound, v: v, problem: "There is no such task. It may have been purged."})
		case err != nil:
			d.fail(w, r, err)
		default:
			d.o.Log.Info("an operator changed a task", "task_id", word(id), "operator", v.operator, "did", b.did)
			redirect(w, taskURL(id)+"?did="+b.did)
		}
	}
}

// notice is what a page says after a button, by the name in its address.
func notice(did string) string {
	switch did {
	case "retried":
		return "The task was taken up again."
	case "cancelled":
		return "The task was cancelled."
	}
	return ""
}
