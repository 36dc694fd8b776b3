package diff

import (
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/handoff"
)

// maxResult is how many bytes of a Builder's result are read.
const maxResult = 1 << 20

// AcceptBuilder records the result of the Builder that edited the workspace. name is the path of
// the result file. It is required if the configuration sets "pipeline"; otherwise it may be empty.
// The result of a Builder that failed is an error, because there is no change to review.
func AcceptBuilder(s session.Session, name string) error {
	if name == "" {
		if !s.Config.Pipeline {
			return nil
		}
		return contract.Fail(contract.CodeUsage, `"pipeline" is on: name the Builder's result with --builder-result FILE`)
	}
	_, files, err := s.Active()
	if err != nil {
		return err
	}
	data, err := s.ReadInput(name, maxResult)
	if err != nil {
		return contract.Fail(contract.CodeUsage, "--builder-result: %w", err)
	}
	result, err := handoff.ParseBuilder(data)
	if err != nil {
		return contract.Fail(contract.CodeUsage, "--builder-result %s: %w", name, err)
	}
	if result.Run.Status != handoff.OK {
		why := "no reason given"
		if result.Run.Error != nil {
			why = *result.Run.Error
		}
		return contract.Fail(contract.CodeBuilderFailed, "the Builder failed: %s", why).
			With(contract.Instruct(contract.ActionEdit, "Let the Builder work again, then run: contribflow diff --builder-result FILE --json"))
	}
	return s.Controller.WriteFile(files.Builder, data)
}
