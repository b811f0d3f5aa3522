package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/cmd/internal/worker"
	"holdfast/store"
)

// config is what the environment says. Absent means a default that works.
type config struct {
	DatabaseURL    dsn        `env:"DATABASE_URL" text:"the Postgres server; without it a private one is started in the data directory"`
	DirectURL      dsn        `env:"DIRECT_DATABASE_URL" text:"the server itself where DATABASE_URL is a pooler; for migrations and live pages"`
	Addr           listenAddr `env:"HOLDFAST_ADDR" envDefault:"127.0.0.1:8080" text:"where to listen (127.0.0.1:8080)"`
	PublicURL      publicURL  `env:"HOLDFAST_PUBLIC_URL" text:"the address that people use; all links are made from it (http://localhost:8080)"`
	DataDir        string     `env:"HOLDFAST_DATA_DIR" text:"folder for what this installation keeps"`
	Secret         secret     `env:"HOLDFAST_SECRET" text:"makes the links, 32 characters or more; else a file in the data directory"`
	SMTP           smtpURL    `env:"HOLDFAST_SMTP_URL" text:"smtp[s]://user:pass@host:port?starttls=auto|always|never; else mail goes to a folder"`
	MailFrom       mailFrom   `env:"HOLDFAST_MAIL_FROM" text:"the address that messages come from"`
	TrustedProxies proxies    `env:"HOLDFAST_TRUSTED_PROXIES" text:"networks whose X-Forwarded-For is believed, such as 10.0.0.0/8,::1/128"`
	PGBin          string     `env:"HOLDFAST_PG_BIN" text:"folder with initdb and postgres, for the private server"`
	Sweep          onOff      `env:"HOLDFAST_SWEEP" envDefault:"on" text:"on or off: close what is due in this process"`
	Dispatch       onOff      `env:"HOLDFAST_DISPATCH" envDefault:"on" text:"on or off: send messages from this process"`
	RateLimit      onOff      `env:"HOLDFAST_RATE_LIMIT" envDefault:"on" text:"on or off: limit how often one visitor may press"`
	NewVenues      onOff      `env:"HOLDFAST_NEW_VENUES" envDefault:"on" text:"on or off: owners may add further venues by themselves"`
	WebhookPrivate onOff      `env:"HOLDFAST_WEBHOOK_PRIVATE" envDefault:"off" text:"on or off: webhooks may go to private addresses and to http"`
	Race           onOff      `env:"HOLDFAST_RACE" envDefault:"off" text:"on or off: owners may start a small run of the race lab, in a schema of its own"`
	LineAPI        lineAPI    `env:"HOLDFAST_LINE_API" text:"where LINE's Messaging API answers (https://api.line.me)"`
	MetricsToken   string     `env:"HOLDFAST_METRICS_TOKEN" text:"opens /metrics to others than this machine"`
}

type variable struct{ name, text string }

// variables lists the settings for the help.
func variables() []variable {
	var all []variable
	t := reflect.TypeFor[config]()
	for i := range t.NumField() {
		all = append(all, variable{t.Field(i).Tag.Get("env"), t.Field(i).Tag.Get("text")})
	}
	return all
}

// configure reads the environment. Every mistake is named, at once, and none of
// the values, since some are secrets.
func (p *program) configure() (config, error) {
	var c config
	surroundings := map[string]string{}
	for _, v := range variables() {
		if value := strings.TrimSpace(p.getenv(v.name)); value != "" {
			surroundings[v.name] = value
		}
	}
	var mistakes []string
	err := env.ParseWithOptions(&c, env.Options{Environment: surroundings})
	var all env.AggregateError
	if errors.As(err, &all) {
		for _, one := range all.Errors {
			var parse env.ParseError
			if !errors.As(one, &parse) {
				return c, fmt.Errorf("settings: %w", one)
			}
			field, _ := reflect.TypeFor[config]().FieldByName(parse.Name)
			mistakes = append(mistakes, field.Tag.Get("env")+": "+parse.Err.Error())
		}
	} else if err != nil {
		return c, fmt.Errorf("settings: %w", err)
	}
	if c.DataDir == "" {
		c.DataDir, err = p.dataDir()
		if err != nil {
			mistakes = append(mistakes, "HOLDFAST_DATA_DIR: "+err.Error())
		}
	}
	if len(mistakes) > 0 {
		return c, misused("settings:\n  %s", strings.Join(mistakes, "\n  "))
	}
	if c.PublicURL.url == nil {
		c.PublicURL.derived = true
		c.PublicURL.url = c.Addr.public()
	}
	if c.DirectURL == "" {
		c.DirectURL = c.DatabaseURL
	}
	c.DirectURL = c.DirectURL.single()
	return c, nil
}

// dataDir is where a program of this system keeps its data.
func (p *program) dataDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/holdfast", nil
	}
	if base := p.getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "holdfast"), nil
	}
	if home := p.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "holdfast"), nil
	}
	return "", errors.New("set it: no home directory is known")
}

// from is the sender's address, by default one at the public host.
func (c config) from() string {
	return cmp.Or(string(c.MailFrom), "holdfast@"+mailHost(c.PublicURL.url.Hostname()))
}

// mailHost makes a public host one that may stand in an address.
func mailHost(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return "[" + host + "]"
	}
	return host
}

// transport is the way that messages take.
func (c config) transport() (worker.Transport, error) {
	if c.SMTP == "" {
		return worker.NewMailbox(c.DataDir), nil
	}
	return worker.ParseSMTP(string(c.SMTP), c.PublicURL.url.Hostname())
}

// connections is the size of the pool unless the DSN names one: enough to keep
// the database busy, few enough that several instances fit into the usual 100.
func connections() int32 { return int32(min(max(10, 4*runtime.GOMAXPROCS(0)), 30)) }

// dsn is the address of a database.
type dsn string

// UnmarshalText checks the address.
func (d *dsn) UnmarshalText(text []byte) error {
	if _, err := pgxpool.ParseConfig(string(text)); err != nil {
		// The parser's error may repeat the password.
		return errors.New("not an address of a Postgres database, such as postgres://user:password@host:5432/holdfast")
	}
	*d = dsn(text)
	return nil
}

// shown is the address without its password.
func (d dsn) shown() string {
	u, err := url.Parse(string(d))
	if err != nil || u.Scheme == "" {
		return "as DATABASE_URL says" // key=value words: a password could stand anywhere
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// single is the address for one connection: the server refuses what is meant for a pool (pool_max_conns and others).
func (d dsn) single() dsn {
	text, between := string(d), " "
	before, query, ok := strings.Cut(text, "?")
	if !strings.Contains(before, "://") {
		before, query, ok = "", text, true
	} else {
		before, between = before+"?", "&"
	}
	if !ok || !strings.Contains(query, "pool_") {
		return d
	}
	kept := slices.DeleteFunc(strings.Split(query, between), func(one string) bool { return strings.HasPrefix(one, "pool_") })
	return dsn(before + strings.Join(kept, between))
}

// listenAddr is host:port to listen on.
type listenAddr struct{ host, port string }

// UnmarshalText reads host:port; an empty host is all of this machine's.
func (a *listenAddr) UnmarshalText(text []byte) error {
	host, port, err := net.SplitHostPort(string(text))
	if err != nil {
		return errors.New("not host:port, such as 127.0.0.1:8080")
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return errors.New("its port is not one")
	}
	a.host, a.port = host, port
	return nil
}

func (a listenAddr) String() string { return net.JoinHostPort(a.host, a.port) }

// public is the address under which a browser on this machine reaches it.
func (a listenAddr) public() *url.URL {
	host := a.host
	if ip, err := netip.ParseAddr(host); err == nil && (ip.IsLoopback() || ip.IsUnspecified()) || host == "" {
		host = "localhost"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, a.port)}
}

// publicURL is scheme and host.
type publicURL struct {
	url     *url.URL
	derived bool // from the address to listen on
}

// UnmarshalText reads the address.
func (u *publicURL) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(strings.TrimSuffix(string(text), "/"))
	switch {
	case err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "":
		return errors.New("not an address such as https://reserve.example.com")
	case parsed.Path != "" || parsed.RawQuery != "" || parsed.Fragment != "" || parsed.User != nil:
		return errors.New("scheme and host only: Holdfast stands at the root of its host")
	}
	u.url = parsed
	return nil
}

// secret makes the links.
type secret string

// UnmarshalText checks the length.
func (s *secret) UnmarshalText(text []byte) error {
	if len(text) < 32 {
		return fmt.Errorf("has %d characters, at least 32 are needed", len(text))
	}
	*s = secret(text)
	return nil
}

// String keeps the secret out of anything printed.
func (s secret) String() string { return "(hidden)" }

type smtpURL string

// UnmarshalText checks the address of the mail server.
func (s *smtpURL) UnmarshalText(text []byte) error {
	if _, err := worker.ParseSMTP(string(text), ""); err != nil {
		return err
	}
	*s = smtpURL(text)
	return nil
}

// String keeps the password out of anything printed.
func (s smtpURL) String() string { return "(hidden)" }

// lineAPI is scheme and host of LINE's servers.
type lineAPI struct{ url *url.URL }

// UnmarshalText reads the address.
func (a *lineAPI) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(strings.TrimSuffix(string(text), "/"))
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" || parsed.Path != "" || parsed.RawQuery != "" || parsed.Fragment != "" || parsed.User != nil {
		return errors.New("not scheme and host, such as https://api.line.me")
	}
	a.url = parsed
	return nil
}

// line is the way by LINE.
func (c config) line(book *store.Store, log *slog.Logger) (*worker.Line, error) {
	at := c.LineAPI.url
	if at == nil {
		var err error
		if at, err = url.Parse(worker.LineAPI); err != nil {
			return nil, err
		}
	}
	return worker.NewLine(book, at, log), nil
}

type mailFrom string

// UnmarshalText takes an address, with or without a name; the name in mails is the tenant's.
func (f *mailFrom) UnmarshalText(text []byte) error {
	parsed, err := netmail.ParseAddress(string(text))
	if err != nil {
		return errors.New("not an e-mail address")
	}
	*f = mailFrom(parsed.Address)
	return nil
}

type onOff bool

// UnmarshalText reads on or off.
func (o *onOff) UnmarshalText(text []byte) error {
	switch strings.ToLower(string(text)) {
	case "on":
		*o = true
	case "off":
		*o = false
	default:
		return errors.New("on or off")
	}
	return nil
}

type proxies []netip.Prefix

// UnmarshalText reads networks, or single addresses, separated by commas.
func (p *proxies) UnmarshalText(text []byte) error {
	for one := range strings.SplitSeq(string(text), ",") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		if ip, err := netip.ParseAddr(one); err == nil {
			*p = append(*p, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(one)
		if err != nil {
			return fmt.Errorf("%q is not a network such as 10.0.0.0/8", one)
		}
		*p = append(*p, prefix.Masked())
	}
	return nil
}
