package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"holdfast/store"
)

// metrics counts what happens. No label names a tenant or a slot: their number
// has no bound, and who books where is nobody else's business.
type metrics struct {
	registry   *prometheus.Registry
	outcomes   *prometheus.CounterVec
	lockWait   prometheus.Histogram
	timeouts   prometheus.Counter
	zeroRows   *prometheus.CounterVec
	sweepLag   prometheus.Histogram
	oldest     prometheus.Gauge
	messages   *prometheus.GaugeVec
	violations *prometheus.GaugeVec
	checked    *prometheus.GaugeVec
	open       atomic.Pointer[map[string][]store.Finding] // by tenant, as of the last check
}

// alarms is what is known to be broken at a tenant; nil before the first check.
func (m *metrics) alarms(tenant string) []store.Finding {
	if open := m.open.Load(); open != nil {
		return (*open)[tenant]
	}
	return nil
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_outcomes_total", Help: "How steps ended: ok, a refusal by name, or error.",
		}, []string{"step", "outcome"}),
		lockWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "holdfast_lock_wait_seconds", Help: "From asking for a slot's lock to having it.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 3},
		}),
		timeouts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "holdfast_lock_timeouts_total", Help: "Steps given up because a lock could not be had in time.",
		}),
		zeroRows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_zero_row_updates_total", Help: "Conditional statements that changed nothing.",
		}, []string{"step"}),
		sweepLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "holdfast_sweep_lag_seconds", Help: "From an enforced deadline to the sweep that closed it.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 3600},
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "holdfast_outbox_oldest_seconds", Help: "Age of the oldest message that is not yet sent.",
		}),
		messages: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "holdfast_outbox_messages", Help: "Messages that are not yet sent, by state.",
		}, []string{"state"}),
		violations: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "holdfast_invariant_violations", Help: "Violations that were found and not yet seen to be mended, by invariant.",
		}, []string{"invariant"}),
		checked: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "holdfast_invariant_check_timestamp_seconds",
			Help: "Up to when the invariants were checked: what changed, and, for the tenant that has waited longest, everything.",
		}, []string{"pass"}),
	}
	m.registry.MustRegister(m.outcomes, m.lockWait, m.timeouts, m.zeroRows, m.sweepLag, m.oldest, m.messages, m.violations, m.checked,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, state := range outboxStates {
		m.messages.WithLabelValues(string(state))
	}
	return m
}

var outboxStates = []store.MessageState{store.MessagePending, store.MessageSending, store.MessageFailed}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// watch is what the store tells.
func (m *metrics) watch() store.Watch {
	return store.Watch{
		Outcome:     func(step, outcome string) { m.outcomes.WithLabelValues(step, outcome).Inc() },
		LockWait:    func(_ string, wait time.Duration) { m.lockWait.Observe(wait.Seconds()) },
		LockTimeout: func(string) { m.timeouts.Inc() },
		ZeroRows:    func(step string) { m.zeroRows.WithLabelValues(step).Inc() },
		SweepLag:    func(lag time.Duration) { m.sweepLag.Observe(max(0, lag.Seconds())) },
	}
}

const (
	statsEvery = 10 * time.Second
	checkEvery = time.Minute
	// checkLimit bounds one call of the check, so that a database that hangs is tried again.
	checkLimit = 10 * time.Minute
)

// watching is how the invariants are watched: what has changed once a minute,
// whichever instance comes first, with some more slots in turn; all there is
// four times a day, one tenant after the other, and not for long at a time.
var watching = store.WatchOptions{Every: checkEvery * 3 / 4, Full: 6 * time.Hour, Budget: 20 * time.Second, Turn: 500}

// stats keeps the outbox's numbers fresh until ctx ends.
func (m *metrics) stats(log *slog.Logger, s *store.Store) func(context.Context) error {
	return every(statsEvery, func(ctx context.Context) {
		stats, err := s.OutboxStats(ctx)
		if err != nil {
			complain(ctx, log, "outbox statistics failed", err)
			return
		}
		for _, state := range outboxStates {
			m.messages.WithLabelValues(string(state)).Set(float64(stats.ByState[state]))
		}
		m.oldest.Set(stats.Oldest.Seconds())
	})
}

// invariants watches until ctx ends, and says loudly what breaks, once, and when it is well again.
func (m *metrics) invariants(log *slog.Logger, s *store.Store) func(context.Context) error {
	return every(checkEvery, func(ctx context.Context) {
		bounded, cancel := context.WithTimeout(ctx, checkLimit)
		defer cancel()
		report, err := s.WatchInvariants(bounded, watching)
		if err != nil {
			complain(ctx, log, "check failed", err)
		}
		if report.Counts != nil {
			m.note(ctx, log, report)
		}
	})
}

// note shows a report to those who watch the metrics, the log and the pages of staff.
func (m *metrics) note(ctx context.Context, log *slog.Logger, report store.WatchReport) {
	open := map[string][]store.Finding{}
	for _, f := range report.Open {
		open[f.TenantID] = append(open[f.TenantID], f)
	}
	m.open.Store(&open)
	m.checked.WithLabelValues("changes").Set(float64(report.At.Unix()))
	full := 0.0
	if report.FullSince != nil {
		full = float64(report.FullSince.Unix())
	}
	m.checked.WithLabelValues("full").Set(full)
	for _, id := range store.InvariantIDs {
		m.violations.WithLabelValues(id).Set(float64(report.Counts[id]))
		var examples []string
		broken, mended := 0, 0
		for _, pass := range report.Passes {
			for _, f := range pass.Broken {
				if f.Invariant == id {
					broken++
					if len(examples) < 10 {
						examples = append(examples, f.Example)
					}
				}
			}
			for _, f := range pass.Mended {
				if f.Invariant == id {
					mended++
				}
			}
		}
		switch left := report.Counts[id]; {
		case broken > 0:
			log.ErrorContext(ctx, "an invariant is violated", "invariant", id, "violations", left, "new", broken, "mended", mended, "examples", examples)
		case mended > 0 && left == 0:
			log.InfoContext(ctx, "an invariant holds again", "invariant", id, "mended", mended)
		case mended > 0:
			log.InfoContext(ctx, "some violations are mended", "invariant", id, "violations", left, "mended", mended)
		}
	}
}

func complain(ctx context.Context, log *slog.Logger, text string, err error) {
	if ctx.Err() == nil {
		log.ErrorContext(ctx, text, "error", err)
	}
}

// every does something at once and then again and again until ctx ends.
func every(pause time.Duration, do func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		for {
			do(ctx)
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}
}
