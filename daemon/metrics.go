package daemon

import (
	"bytes"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/auralsp/aura/daemon/serve"
)

// metrics prints the daemon's counts as Prometheus text. The registry is made
// for the request from what the components count themselves.
func (d *Daemon) metrics(stats serve.Stats) (string, error) {
	reg := prometheus.NewRegistry()
	gauge := func(name, help string, v float64) {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "aura", Name: name, Help: help})
		g.Set(v)
		reg.MustRegister(g)
	}
	count := func(name, help string, v int64) {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "aura", Name: name, Help: help})
		c.Add(float64(v))
		reg.MustRegister(c)
	}
	gauge("uptime_seconds", "Time since the daemon started.", time.Since(d.started).Seconds())
	gauge("resident_bytes", "Resident memory of the daemon itself.", float64(residentMemory()))
	gauge("clients", "Connected clients.", float64(stats.Clients))
	gauge("requests_running", "Requests that wait or run.", float64(stats.Running))
	gauge("workspaces", "Open workspaces.", float64(len(d.workspaces.list())))
	gauge("server_memory_limit_bytes", "What all language servers together may use.", float64(d.supervisor.Memory().Limit))
	count("connections_total", "Connections accepted.", stats.Connections)
	count("requests_total", "Requests received.", stats.Requests)
	count("requests_overloaded_total", "Requests refused for a full queue.", stats.Overloaded)
	count("panics_total", "Requests that ended in a panic.", stats.Panics)
	count("strangers_total", "Connections of other users, refused.", stats.Strangers)
	servers := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "aura", Name: "server_memory_bytes", Help: "Memory of a language server and all that it started.",
	}, []string{"engine", "root", "state"})
	starts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "aura", Name: "server_starts_total", Help: "Starts of a language server.",
	}, []string{"engine", "root"})
	for _, s := range d.supervisor.Status() {
		servers.WithLabelValues(s.Engine, s.Root, s.State).Set(float64(s.Memory))
		starts.WithLabelValues(s.Engine, s.Root).Add(float64(s.Starts))
	}
	reg.MustRegister(servers, starts, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := reg.Gather()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}
