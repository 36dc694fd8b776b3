package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/assembly"
)

// firstSocket is the number of the first file that systemd passes to a process.
const firstSocket = 3

// listen returns the server's listener: the socket that systemd opened for this process, which stays
// open during a restart, or else one on the configured address.
func listen(ctx context.Context, getenv func(string) string, s *serverconfig.Config) (assembly.KeptListener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return assembly.Listen(ctx, s)
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("use the socket of systemd: want one, got LISTEN_FDS=%s; foremand.socket may have one ListenStream only", n)
	}
	file := os.NewFile(firstSocket, "socket of systemd")
	defer file.Close() // net.FileListener copies it
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("use the socket of systemd: want a stream, as ListenStream= opens one: %w", err)
	}
	k, ok := l.(assembly.KeptListener)
	if !ok {
		return nil, errors.Join(errors.New("use the socket of systemd: want a stream, as ListenStream= opens one"), l.Close())
	}
	if err := mayListen(s, bindAddress(l)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return k, nil
}

// mayListen returns an error unless a server with this configuration may listen on an address.
func mayListen(s *serverconfig.Config, address string) error {
	credentials, err := assembly.Credentials(s)
	if err != nil {
		return err
	}
	return access.CheckBind(address, credentials)
}

// bindAddress returns the address of a listener as host:port. Only programs on this machine reach
// a Unix socket.
func bindAddress(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return "localhost:0"
	}
	return l.Addr().String()
}
