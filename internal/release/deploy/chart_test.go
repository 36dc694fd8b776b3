package deploy

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/org/foreman-action/internal/config/serverconfig"
)

var update = flag.Bool("update", false, "rewrite the rendered charts in testdata")

const chartFolder = root + "/deploy/helm/foremand"

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns the manifests of the chart with some values, by the names of their templates.
func render(c *chart.Chart, values map[string]any) (map[string]string, error) {
	o := chartutil.ReleaseOptions{Name: "triage", Namespace: "foreman", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, o, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(files, func(name, text string) bool {
		return strings.TrimSpace(text) == "" || strings.HasPrefix(filepath.Base(name), "_")
	})
	return files, nil
}

// exampleValues returns the configuration in the comments of values.yaml, as values.
func exampleValues(t *testing.T) chartutil.Values {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\nconfig:\n"))
	text, _, _ = bytes.Cut(text, []byte("\n\n"))
	values, err := chartutil.ReadValues(append([]byte("config:\n"), bytes.ReplaceAll(text, []byte("  # "), []byte("  "))...))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestChart renders the chart with the example of its own values and with each file of values in the folder ci. It
// compares the manifests with those in testdata, and checks them as a cluster would.
func TestChart(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob(filepath.Join(chartFolder, "ci", "*-values.yaml"))
	if err != nil || len(cases) < 3 {
		t.Fatal(cases, err)
	}
	for _, file := range append(cases, "") {
		name, values := "default", exampleValues(t)
		if file != "" {
			name = strings.TrimSuffix(filepath.Base(file), "-values.yaml")
			if values, err = chartutil.ReadValuesFile(file); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := render(loadChart(t), values)
			if err != nil {
				t.Fatal(err)
			}
			var all bytes.Buffer
			for _, name := range slices.Sorted(maps.Keys(files)) {
				fmt.Fprintf(&all, "---\n# %s\n%s\n", name, strings.Trim(files[name], "\n"))
			}
			compare(t, filepath.Join("testdata", name+".yaml"), all.Bytes())
			for name, text := range files {
				if filepath.Ext(name) == ".yaml" {
					checkManifest(t, name, text)
				}
			}
		})
	}
}

// compare compares a text with a file, or rewrites the file.
func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: run go -C internal/release test ./deploy -update (-want +got):\n%s", path, diff)
	}
}

// checkManifest decodes a manifest, where unknown fields and wrong types are mistakes, and checks what an operator
// relies on.
func checkManifest(t *testing.T, name, text string) {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, monitoring.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	object, _, err := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
		return
	}
	switch o := object.(type) {
	case *apps.Deployment:
		checkPod(t, o)
	case *core.ConfigMap:
		checkConfig(t, o.Data["config.yaml"])
	case *core.Secret:
		t.Errorf("%s: the chart writes a secret", name)
	}
}

// checkPod checks the security of the server's pod, its probes, and that its mounts have volumes.
func checkPod(t *testing.T, d *apps.Deployment) {
	t.Helper()
	pod := d.Spec.Template.Spec
	if len(pod.Containers) != 1 || !maps.Equal(d.Spec.Selector.MatchLabels, selected(d.Spec.Template.Labels, d.Spec.Selector.MatchLabels)) {
		t.Fatalf("got %d containers, selected by %v", len(pod.Containers), d.Spec.Selector)
	}
	c := pod.Containers[0]
	s, p := c.SecurityContext, pod.SecurityContext
	if s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("the container has the security context %+v", s)
	}
	if p == nil || !*p.RunAsNonRoot || *p.RunAsUser != 65532 || p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault || *pod.AutomountServiceAccountToken {
		t.Errorf("the pod has the security context %+v", p)
	}
	for path, probe := range map[string]*core.Probe{"/livez": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path {
			t.Errorf("no probe asks for %s", path)
		}
	}
	if c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("the container has the resources %+v", c.Resources)
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("no volume has the name %s", m.Name)
		}
	}
}

// selected returns those of labels that the keys of others name.
func selected(labels, others map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(k, _ string) bool { _, ok := others[k]; return !ok })
	return out
}

// checkConfig lets the server read its configuration.
func checkConfig(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) {
		switch name {
		case "DATABASE_URL":
			return "postgres://foreman:x@db/foreman", true
		case "GITHUB_API_URL":
			return "", false
		}
		return secretOf(name), true
	}
	s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path, Lookup: lookup})
	if err != nil {
		t.Errorf("%v\n%s", err, text)
		return
	}
	if len(s.Warnings) > 0 {
		t.Errorf("got the warnings %v", s.Warnings)
	}
}

// config returns a configuration with a section.
func config(section string, value map[string]any) map[string]any {
	all := map[string]any{"identity": map[string]any{}, "repos": []any{}}
	all[section] = value
	return all
}

// TestChartRefuses checks that values with a mistake are refused.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values map[string]any
		want   string
	}{
		{"a drain without an operator", map[string]any{"drainSeconds": 60, "config": config("server", map[string]any{"operators": []any{}})}, "set config.server.operators"},
		{"several servers on SQLite", map[string]any{"replicaCount": 2}, "several replicas share a queue in PostgreSQL only"},
		{"PostgreSQL without its address", map[string]any{"postgres": map[string]any{"enabled": true}}, "postgres.existingSecret: name the Secret"},
		{"an unknown value", map[string]any{"replicas": 2}, "replicas"},
		{"no secret", map[string]any{"existingSecret": ""}, "existingSecret"},
		{"a digest that is none", map[string]any{"image": map[string]any{"digest": "sha256:12"}}, "digest"},
		{"no configuration", map[string]any{"config": map[string]any{"mode": "apply"}}, "repos"},
		{"metrics over TLS of an unnamed host", map[string]any{
			"serviceMonitor": map[string]any{"enabled": true}, "config": config("server", map[string]any{"tls": map[string]any{"cert": "c", "key": "k"}}),
		}, "serviceMonitor.tlsConfig: name the host of the certificate"},
		{"a token in the ConfigMap", map[string]any{"config": config("identity", map[string]any{"github_token": "t0ken"})}, "github_token"},
		{"the key of an App", map[string]any{"config": config("identity", map[string]any{"app": map[string]any{"private_key": "-----BEGIN"}})}, "private_key"},
		{"the key of a model", map[string]any{"config": config("llm", map[string]any{"api_key": "sk"})}, "api_key"},
		{"the secret of a webhook", map[string]any{"config": config("server", map[string]any{"webhook_secret": "s"})}, "webhook_secret"},
		{"the secrets of webhooks", map[string]any{"config": config("server", map[string]any{"webhook_secrets": []any{"${A}", "s"}})}, "webhook_secrets"},
		{"the secret of an agent", map[string]any{"config": config("server", map[string]any{"credentials": []any{map[string]any{"name": "a", "secret": "s"}}})}, "credentials"},
		{"the password of an operator", map[string]any{"config": config("server", map[string]any{"operators": []any{map[string]any{"name": "a", "secret": "s"}}})}, "operators"},
		{"the address of the database", map[string]any{"config": config("queue", map[string]any{"url": "${DATABASE_URL}"})}, "url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			values := exampleValues(t)
			maps.Copy(values, tt.values)
			if files, err := render(loadChart(t), values); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %d files and %v, want an error with %q", len(files), err, tt.want)
			}
		})
	}
}
