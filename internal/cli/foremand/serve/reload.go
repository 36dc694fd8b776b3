package serve

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/assembly"
	"github.com/org/foreman-action/internal/server/database"
)

// A reloader reads the configuration again on request, and passes it to the loop of Run.
type reloader struct {
	o       Options
	quit    func() // stops the server, and starts no other one
	at      database.Locations
	bind    string           // the address of the listener
	limits  *assembly.Limits // of GitHub: they last longer than one server
	handler *logpart.Handler // of log
	systemd *notifier
	server  atomic.Pointer[assembly.Server] // nil: none runs now
	log     *slog.Logger

	mu      sync.Mutex
	current *serverconfig.Config
	next    *serverconfig.Config // nil: no reload is requested
	stop    func()               // stops the running server
}

// reload reads the configuration, and makes the loop of Run use it. It returns the keys whose new
// values need a restart, and leaves these unchanged. After an error the server continues with its
// configuration.
func (r *reloader) reload(ctx context.Context) (unchanged []string, err error) {
	if h := r.server.Load(); h != nil && h.Draining() {
		return nil, errors.New("the server drains and stops soon; start it again with the new configuration")
	}
	r.systemd.reloading()
	defer func() {
		if err != nil {
			r.systemd.ready("the new configuration was refused: " + err.Error())
		}
	}()
	s, err := load(ctx, r.o, r.log)
	if err != nil {
		return nil, err
	}
	at, err := deployment.Databases(r.o.Env, r.o.Databases, s.Queue, s.Memory)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	unchanged = []string{}
	for _, k := range []struct {
		name    string
		changed bool
	}{
		{"server.host", s.Server.Host != r.current.Server.Host},
		{"server.port", s.Server.Port != r.current.Server.Port},
		{"queue.url or queue.db_path", at.Queue != r.at.Queue},
		{"memory.db_path", at.Memory != r.at.Memory},
	} {
		if k.changed {
			unchanged = append(unchanged, k.name)
			r.log.WarnContext(ctx, "configuration: the new value needs a restart; the server keeps the old one", "key", k.name)
		}
	}
	s.Server.Host, s.Server.Port = r.current.Server.Host, r.current.Server.Port
	if err := assembly.Check(s); err != nil {
		return nil, err
	}
	if err := mayListen(s, r.bind); err != nil {
		return nil, err
	}
	r.next = s
	r.stop()
	return unchanged, nil
}

// follow reloads on each SIGHUP, until done is closed.
func (r *reloader) follow(ctx context.Context, hangups <-chan os.Signal, done <-chan struct{}) {
	for {
		select {
		case <-hangups:
			if _, err := r.reload(ctx); err != nil {
				r.log.ErrorContext(ctx, "reading the configuration again failed; the server continues with the old one", "error", err)
			}
		case <-done:
			return
		}
	}
}

// run runs servers on the listener, one after another: each reload stops one and begins the next.
// If the next one cannot begin, the earlier configuration is used again.
func (r *reloader) run(ctx context.Context, l assembly.KeptListener) error {
	s := r.current
	var good *serverconfig.Config // began before; nil: none did
	for {
		running, stop := context.WithCancel(ctx)
		r.begin(s, stop)
		began, err := r.serve(running, l, s)
		stop()
		next := r.take()
		switch {
		case ctx.Err() != nil:
			return err
		case next != nil:
			if began {
				good = s
			}
			s = next
			r.log.InfoContext(ctx, "configuration read again; restarting the parts of the server")
		case !began && good != nil:
			r.log.ErrorContext(ctx, "the server does not start with the new configuration; it continues with the old one", "error", err)
			s, good = good, nil
		default:
			return err
		}
	}
}

// begin records the configuration of the next server, and how to stop it.
func (r *reloader) begin(s *serverconfig.Config, stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, r.stop = s, stop
	r.handler.Set(r.o.levels(s.Log))
	if r.next != nil {
		stop()
	}
}

// take returns the requested configuration; nil: none is requested.
func (r *reloader) take() *serverconfig.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.next
	r.next = nil
	return next
}

// serve runs one server until ctx ends. began reports whether it could be opened.
func (r *reloader) serve(ctx context.Context, l assembly.KeptListener, s *serverconfig.Config) (began bool, err error) {
	h, err := assembly.Open(ctx, assembly.Options{
		Settings: s, Databases: r.at, Version: r.o.Env.Version, Getenv: r.o.Env.Getenv, Now: r.o.Env.Now, Log: r.log, Limits: r.limits, Listener: l, Reload: r.reload,
		Stop: r.quit, Status: func(text string) { r.systemd.send("STATUS=" + text) },
		Ready: func(url string) { r.systemd.ready("listening on " + url) },
	})
	if err != nil {
		return false, err
	}
	defer func() {
		if err := h.Close(); err != nil {
			r.log.Error("closing the stores failed", "error", err)
		}
	}()
	r.server.Store(h)
	defer r.server.Store(nil)
	return true, command.Failed(h.Run(ctx))
}

// stuck returns the parts of the running server that make no progress.
func (r *reloader) stuck(ctx context.Context) []string {
	if h := r.server.Load(); h != nil {
		return h.Stuck(ctx)
	}
	return nil
}
