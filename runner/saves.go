package runner

import (
	"context"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// saves are the changes of records in a scheduled run, which confirms them at its end.
type saves []save

type save struct {
	ref    triage.Ref
	change func(*memory.Record) error
}

// update changes the record of an issue, as [memory.Update] does.
func (s setup) update(ctx context.Context, ref triage.Ref, change func(*memory.Record) error) error {
	_, err := memory.Update(ctx, s.o.Memory.Store, ref.Owner+"/"+ref.Repo, ref.Number, change)
	if err == nil && s.saves != nil {
		*s.saves = append(*s.saves, save{ref, change})
	}
	return err
}
