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
	found      atomic.Pointer[[]store.Invariant] // by the last check
}

// alarms is what the last check found; nil before the first.
func (m *metrics) alarms() []store.Invariant {
	if found := m.found.Load(); found != nil {
		return *found
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
			Name: "holdfast_invariant_violations", Help: "Violations found by the last check, by invariant.",
		}, []string{"invariant"}),
	}
	m.registry.MustRegister(m.outcomes, m.lockWait, m.timeouts, m.zeroRows, m.sweepLag, m.oldest, m.messages, m.violations,
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
	// checkLimit bounds a check, which reads all there is.
	checkLimit = 30 * time.Second
)

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

// invariants checks once a minute until ctx ends, and says loudly what it finds.
func (m *metrics) invariants(log *slog.Logger, s *store.Store) func(context.Context) error {
	return every(checkEvery, func(ctx context.Context) {
		bounded, cancel := context.WithTimeout(ctx, checkLimit)
		defer cancel()
		report, err := s.Check(bounded, "")
		if err != nil {
			complain(ctx, log, "check failed", err)
			return
		}
		m.found.Store(&report.Invariants)
		for _, i := range report.Invariants {
			m.violations.WithLabelValues(i.ID).Set(float64(i.Violations))
			if i.Violations > 0 {
				log.ErrorContext(ctx, "an invariant is violated", "invariant", i.ID, "violations", i.Violations, "examples", i.Examples)
			}
		}
	})
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
