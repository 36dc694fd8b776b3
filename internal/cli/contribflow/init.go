package contribflow

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/initialize"
	"github.com/org/foreman-action/internal/coding/contrib/session"
)

func initVerb() verb {
	var o initialize.Options
	return verb{
		use:   "init",
		short: "Write the configuration of this folder",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.Force, "force", false, "replace the configuration; the old one is kept as config.json.bak")
			f.StringArrayVar(&o.Languages, "lang", nil, "look for issues of repositories in this `language`; may be repeated")
			f.StringArrayVar(&o.Topics, "topic", nil, "look for issues about this `topic`; may be repeated")
			f.StringArrayVar(&o.Types, "type", nil, "look for this `kind` of contribution; may be repeated")
		},
		values: map[string][]string{"type": controller.Types()},
		check:  func([]string) error { return o.Check() },
		writes: true,
		run: func(_ context.Context, s session.Session, _ []string) (contract.Document, error) {
			return initialize.Run(s, o)
		},
		show: shows(func(w *screen, d contract.Init) {
			w.status(d.Status, "%s", d.ConfigPath)
			w.line("%s", d.Reason)
		}),
	}
}
