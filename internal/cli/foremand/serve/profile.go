package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// checkLoopback returns an error unless an address is a port of this machine's loopback interface,
// such as 127.0.0.1:6060.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !isLoopback(host) {
		return fmt.Errorf("want a loopback address with a port, such as 127.0.0.1:6060, got %q: profiles show what the program does, and have no credentials", address)
	}
	return nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// profile serves profiles of the process at an address that checkLoopback accepts, until the
// returned function is called.
func profile(ctx context.Context, address string, log *slog.Logger) (stop func() error, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--pprof: %w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() { // localhost can have any address
		return nil, errors.Join(fmt.Errorf("--pprof: %w", checkLoopback(l.Addr().String())), l.Close())
	}
	mux := http.NewServeMux() // without cmdline, because a flag can contain a password
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	// A profile takes as long as its client asks for, so there is no timeout for the answer.
	s := &http.Server{Handler: local(mux), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	log.InfoContext(ctx, "serving profiles of the process", "url", "http://"+l.Addr().String()+"/debug/pprof/")
	return func() error {
		err := s.Close()
		if failed := <-ended; !errors.Is(failed, http.ErrServerClosed) {
			err = errors.Join(err, failed)
		}
		return err
	}, nil
}

// local refuses requests that a page of another site makes in a browser on this machine.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if from := r.Header.Get("Sec-Fetch-Site"); !isLoopback(host) || from != "" && from != "none" && from != "same-origin" {
			http.Error(w, "profiles are for programs on this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
