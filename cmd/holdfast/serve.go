package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"holdfast/cmd/internal/worker"
	"holdfast/migrations"
	"holdfast/store"
	"holdfast/store/pgserver"
	"holdfast/web"
)

// drainLimit is how long requests that were begun may take after the signal to stop.
const drainLimit = 15 * time.Second

// serve runs the web server and its background work until ctx ends.
func (p *program) serve(ctx context.Context, args []string) (err error) {
	if err := p.flags("serve", args, func(*flag.FlagSet) {}); err != nil {
		return err
	}
	p.level.Set(slog.LevelInfo)
	defer func() {
		// Asked to stop while it was still starting: that is no failure.
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			p.log.Info("stopped while starting", "error", err)
			err = nil
		}
	}()
	c, err := p.configure()
	if err != nil {
		return err
	}
	// First of all, so that a port in use is told at once and not after a minute
	// of preparing; who comes early waits in the queue of the socket.
	listener, err := listenOn(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer func() {
		if closed := listener.Close(); closed != nil && !errors.Is(closed, net.ErrClosed) {
			err = errors.Join(err, closed)
		}
	}()
	if c.PublicURL.derived {
		addr := c.Addr
		if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
			addr.port = strconv.Itoa(tcp.Port)
		}
		c.PublicURL.url = addr.public()
	}
	secret, err := c.secretBytes()
	if err != nil {
		return err
	}
	m := newMetrics()
	d := &database{dsn: string(c.DatabaseURL), shown: c.DatabaseURL.shown()}
	if d.dsn == "" {
		if d.private, err = p.openPrivate(ctx, c); err != nil {
			return err
		}
		d.dsn = d.private.DSN(databaseName)
		d.shown = d.dsn
	}
	defer func() { err = errors.Join(err, stopPrivate(d.private)) }()
	if d.private != nil {
		if _, err := migrations.Up(ctx, d.dsn); err != nil {
			return err
		}
	}
	live := &worker.Live{Connect: d.direct(c), Log: p.log}
	watch := m.watch()
	watch.Changed = live.Changed
	watch.Shortage = func(step, code string) {
		p.log.Error("the database has run out of room or memory", "step", step, "code", code)
	}
	if err := d.connect(ctx, secret, watch); err != nil {
		return err
	}
	defer d.pool.Close()
	var signIn string
	if d.private != nil {
		if signIn, err = p.fillDemo(ctx, c, d.store, false); err != nil {
			return err
		}
	} else if signIn, err = p.knownDemo(ctx, c, d.store); err != nil {
		return err
	}
	return p.run(ctx, c, d, m, live, listener, signIn)
}

func listenOn(ctx context.Context, addr listenAddr) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr.String())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program: set HOLDFAST_ADDR to another address, such as %s", addr, net.JoinHostPort(addr.host, "8081"))
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}

// run serves on what has been prepared.
func (p *program) run(ctx context.Context, c config, d *database, m *metrics, live *worker.Live, listener net.Listener, signIn string) error {
	transport, err := c.transport()
	if err != nil {
		return err
	}
	cfg := web.Config{
		Store: d.store, Sessions: d.store.Sessions(), PublicURL: c.PublicURL.url, TrustedProxies: c.TrustedProxies,
		RateLimit: bool(c.RateLimit), OperatorAddsVenues: !bool(c.NewVenues), Log: p.log, MetricsHandler: m.handler(), MetricsToken: c.MetricsToken,
		Ready: func(ctx context.Context) error { return ready(ctx, d) }, MailFrom: c.from(),
		Alarms: m.alarms, WebhookPrivate: bool(c.WebhookPrivate),
	}
	hooks := &worker.Webhooks{Store: d.store, Write: web.WebhookBody, Client: worker.NewWebhookClient(bool(c.WebhookPrivate)), Log: p.log}
	cfg.TestWebhook = hooks.Test
	line, err := c.line(d.store, p.log)
	if err != nil {
		return err
	}
	cfg.Line = line
	if c.SMTP == "" {
		cfg.MailDir = filepath.Join(c.DataDir, "mail")
	}
	var races []func(context.Context) error
	if c.Race {
		runner, err := newRaceRunner(d.store, p.log, cmp.Or(string(c.DirectURL), d.dsn))
		if err != nil {
			return err
		}
		cfg.Race = runner.asked
		races = append(races, p.whenReady(d, runner.loop))
	}
	if signIn != "" {
		cfg.Home = "/" + demoSlug
	}
	site, err := web.New(cfg)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: site.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
	}

	live.Tell = site.SlotsChanged
	server.RegisterOnShutdown(site.EndStreams)

	// Requests are drained first, then the loops end, then the database.
	background, endBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer endBackground()
	group, running := errgroup.WithContext(background)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	loops := append(p.loops(c, d, m, transport, line), races...)
	if c.Dispatch {
		loops = append(loops, p.whenReady(d, hooks.Run))
	}
	group.Go(func() error {
		return worker.Run(running, append(loops, live.Publish, live.Listen)...)
	})
	if d.private != nil {
		group.Go(func() error { return p.keepPrivate(running, c, d) })
	}
	p.announce(c, d, signIn)

	select {
	case <-ctx.Done():
		p.log.Info("stopping")
	case <-running.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	err = server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		p.log.Warn("some requests took too long and were cut off")
		err = server.Close()
	}
	endBackground()
	return errors.Join(group.Wait(), err)
}

// announce says where things are, when they are really there.
func (p *program) announce(c config, d *database, signIn string) {
	customer := c.PublicURL.url.String() + "/"
	if signIn != "" {
		customer += demoSlug
	}
	fmt.Fprintf(p.stdout, "customer: %s\n", customer)
	fmt.Fprintf(p.stdout, "staff: %s/staff\n", c.PublicURL.url)
	if signIn != "" {
		fmt.Fprintf(p.stdout, "sign-in: %s %s\n", demoOwner, signIn)
	}
	fmt.Fprintf(p.stdout, "database: %s\n", d.shown)
}

// ready tells whether this instance may be sent visitors.
func ready(ctx context.Context, d *database) error {
	if err := d.store.Ready(ctx); err != nil {
		return err
	}
	pending, err := migrations.HasPending(ctx, d.pool)
	if err == nil && pending {
		err = errPending
	}
	return err
}

// loops are the background work of this instance.
func (p *program) loops(c config, d *database, m *metrics, transport, line worker.Transport) []func(context.Context) error {
	loops := []func(context.Context) error{m.stats(p.log, d.store), m.invariants(p.log, d.store)}
	if c.Sweep {
		s := &worker.Sweeper{Store: d.store, Log: p.log}
		loops = append(loops, p.whenReady(d, s.Run))
	}
	if c.Dispatch {
		w := &worker.Writer{Tokens: d.store, PublicURL: c.PublicURL.url, From: c.from()}
		s := &worker.Dispatcher{Store: d.store, Write: w.Write, Transport: transport, Line: line, Log: p.log}
		loops = append(loops, p.whenReady(d, s.Run))
	}
	return loops
}

// whenReady keeps an instance with another secret, or one that the schema has
// left behind, from making and mailing links that nobody could open.
func (p *program) whenReady(d *database, loop func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		told := ""
		for {
			err := ready(ctx, d)
			if err == nil {
				return loop(ctx)
			}
			if ctx.Err() != nil {
				return nil
			}
			if told != err.Error() {
				told = err.Error()
				p.log.ErrorContext(ctx, "background work waits", "error", err)
			}
			timer := time.NewTimer(worker.LongestPause)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// keepPrivate starts the private server again when it is lost: when the process
// that owned it has ended, this one becomes its owner.
func (p *program) keepPrivate(ctx context.Context, c config, d *database) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.private.Gone():
		}
		p.log.WarnContext(ctx, "the private postgres is gone; starting it again", "error", d.private.Err())
		bounded, cancel := context.WithTimeout(ctx, startLimit)
		next, err := pgserver.Start(bounded, pgserver.Options{Dir: c.DataDir, BinDir: c.PGBin, Log: p.log})
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if next.DSN(databaseName) != d.dsn {
			return errors.Join(errors.New("the private postgres came back at another address"), stopPrivate(next))
		}
		if err := stopPrivate(d.private); err != nil {
			p.log.WarnContext(ctx, "the lost postgres", "error", err)
		}
		d.private = next
	}
}

// knownDemo gives the demo's password where this database has the demo and
// this installation keeps its password.
func (p *program) knownDemo(ctx context.Context, c config, s *store.Store) (string, error) {
	_, err := s.TenantBySlug(ctx, demoSlug)
	if errors.Is(err, store.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return c.keptDemoPassword()
}
