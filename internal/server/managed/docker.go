package managed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// ownerLabel names the label by which the containers of a server are found again.
const ownerLabel = "io.foreman.owner"

// agentPort is where an agent listens inside of its container.
const agentPort = "8000/tcp"

// Docker runs containers with a Docker engine. It is safe for concurrent use.
type Docker struct{ c *client.Client }

// OpenDocker returns the engine that the environment names: DOCKER_HOST and the like, or
// the usual socket. It does not ask whether one is there.
func OpenDocker() (*Docker, error) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return nil, fmt.Errorf("find Docker: %w", err)
	}
	return &Docker{c}, nil
}

// Close ends the connections.
func (d *Docker) Close() error { return d.c.Close() }

// Ready returns nil when the engine answers.
func (d *Docker) Ready(ctx context.Context) error {
	_, err := d.c.Ping(ctx, client.PingOptions{})
	return err
}

// Gateway returns the address of this machine on the network of the containers.
func (d *Docker) Gateway(ctx context.Context) (netip.Addr, error) {
	n, err := d.c.NetworkInspect(ctx, network.NetworkBridge, client.NetworkInspectOptions{})
	if err != nil {
		return netip.Addr{}, fmt.Errorf("look at Docker's bridge: %w", err)
	}
	for _, c := range n.Network.IPAM.Config {
		if c.Gateway.Is4() {
			return c.Gateway, nil
		}
	}
	// An engine that chose the address itself may not tell it: the interface does.
	card, err := net.InterfaceByName(n.Network.Options["com.docker.network.bridge.name"])
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find the address of Docker's bridge: %w", err)
	}
	addresses, err := card.Addrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find the address of Docker's bridge: %w", err)
	}
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() {
			return prefix.Addr(), nil
		}
	}
	return netip.Addr{}, errors.New("find the address of Docker's bridge: it has none")
}

// Clear removes the containers that an earlier process left behind.
func (d *Docker) Clear(ctx context.Context, owner string) ([]string, error) {
	list, err := d.c.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", ownerLabel+"="+owner),
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range list.Items {
		if err := d.Remove(ctx, c.ID); err != nil {
			return names, err
		}
		names = append(names, strings.TrimPrefix(strings.Join(c.Names, ","), "/"))
	}
	return names, nil
}

// startTime bounds how long the engine may take to make and start a container.
const startTime = 30 * time.Second

// Start makes and starts a container.
func (d *Docker) Start(ctx context.Context, owner string, a Agent) (string, error) {
	if err := cmp.Or(d.pull(ctx, a.Image), ctx.Err()); err != nil {
		return "", err
	}
	// A server that is stopped in between must know what it made, to remove it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer cancel()
	o := client.ContainerCreateOptions{Name: "foreman-" + a.Name + "-" + owner, Config: config(owner, a), HostConfig: limits(a)}
	made, err := d.c.ContainerCreate(ctx, o)
	if cerrdefs.IsConflict(err) {
		// One of ours that could not be removed, when the engine did not answer.
		if err := d.Remove(ctx, o.Name); err != nil {
			return "", err
		}
		made, err = d.c.ContainerCreate(ctx, o)
	}
	if err != nil {
		return "", fmt.Errorf("make a container of %s: %w", a.Image, err)
	}
	if _, err := d.c.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		return made.ID, fmt.Errorf("start a container of %s: %w", a.Image, err)
	}
	return made.ID, nil
}

// pull gets an image that is not there.
func (d *Docker) pull(ctx context.Context, image string) error {
	_, err := d.c.ImageInspect(ctx, image)
	if err == nil {
		return nil
	}
	if !cerrdefs.IsNotFound(err) {
		return fmt.Errorf("look for the image %s: %w", image, err)
	}
	progress, err := d.c.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = progress.Wait(ctx)
		_ = progress.Close()
	}
	if err != nil {
		return fmt.Errorf("the image %s is not on this machine and cannot be pulled (try: docker pull %s): %w", image, image, err)
	}
	return nil
}

func config(owner string, a Agent) *container.Config {
	env := []string{"FOREMAN_HARNESS_URL=" + string(a.HarnessURL), "AGENT_URL=" + a.URL}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, name+"="+string(a.Env[name]))
	}
	return &container.Config{
		Image: a.Image, User: a.User, Env: env, Labels: map[string]string{ownerLabel: owner},
		ExposedPorts: network.PortSet{network.MustParsePort(agentPort): {}},
	}
}

// limits shut the container in: it can write to /tmp alone, gains no rights, and is
// reached from this machine only.
func limits(a Agent) *container.HostConfig {
	pids := int64(a.PIDs)
	return &container.HostConfig{
		PortBindings: network.PortMap{network.MustParsePort(agentPort): {{
			HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: strconv.Itoa(a.Port),
		}}},
		Resources: container.Resources{
			Memory: int64(a.MemoryMB) << 20, MemorySwap: int64(a.MemoryMB) << 20,
			NanoCPUs: int64(a.CPUs * 1e9), PidsLimit: &pids,
		},
		ReadonlyRootfs: true,
		Tmpfs:          map[string]string{"/tmp": "rw,nosuid,nodev,size=64m"},
		SecurityOpt:    []string{"no-new-privileges:true"},
		CapDrop:        []string{"ALL"},
		LogConfig:      container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10m", "max-file": "2"}},
	}
}

// Wait returns when the container has ended.
func (d *Docker) Wait(ctx context.Context, id string) (int64, string, error) {
	w := d.c.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-w.Error:
		if cerrdefs.IsNotFound(err) {
			return 0, "", ErrGone
		}
		return 0, "", err
	case r := <-w.Result:
		if r.Error != nil {
			return r.StatusCode, "", errors.New(r.Error.Message)
		}
		return r.StatusCode, d.output(ctx, id), nil
	}
}

// output returns the end of what a container printed; empty when it cannot be had.
func (d *Docker) output(ctx context.Context, id string) string {
	logs, err := d.c.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "200"})
	if err != nil {
		return ""
	}
	defer logs.Close()
	var end tail
	if _, err := stdcopy.StdCopy(&end, &end, logs); err != nil {
		return ""
	}
	return string(end)
}

// A tail keeps the end of what is written to it.
type tail []byte

// Write drops what is too far from the end to matter.
func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - outputRead; over > 0 {
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}

// stopSeconds is how long a container may take to stop by itself.
const stopSeconds = 10

// Remove stops and removes a container.
func (d *Docker) Remove(ctx context.Context, id string) error {
	wait := stopSeconds
	if _, err := d.c.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &wait}); err != nil && !cerrdefs.IsNotFound(err) {
		return fmt.Errorf("stop a container: %w", err)
	}
	_, err := d.c.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
		return fmt.Errorf("remove a container: %w", err)
	}
	return nil
}
