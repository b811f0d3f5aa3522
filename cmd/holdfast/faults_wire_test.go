package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// cutter stands between the program and Postgres. It understands just enough of what they say to each other to see a
// commit, and ends some connections there: before the server got it, or after the server has answered and before the
// answer went on.
type cutter struct {
	dsn    string // of the database, through the cutter
	target *pgconn.Config

	on            atomic.Bool
	before, after atomic.Int64

	mu     sync.Mutex
	random *rand.Rand
	names  map[string]int
	open   map[net.Conn]bool
}

// oneInCuts of the commits are cut.
const oneInCuts = 6

// The statements that commit by themselves, by their first lines.
var committing = []string{
	"-- hold", "-- confirm", "-- commit session", "-- update session", "-- claim messages", "-- finish message",
	"-- begin a request with a key", "-- keep the answer of a request with a key", "-- give up a request with a key",
}

func cutBetween(t *testing.T, dsn string) *cutter {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.TLSConfig != nil {
		t.Fatal("this test reads what goes over the wire: the database must be reachable without TLS (sslmode=disable)")
	}
	l := listening(t)
	c := &cutter{target: cfg, random: rand.New(rand.NewPCG(3, 5)), names: map[string]int{}, open: map[net.Conn]bool{}}
	through := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: l.Addr().String(), Path: "/" + cfg.Database, RawQuery: "sslmode=disable"}
	c.dsn = through.String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		for conn := range c.open {
			_ = conn.Close() // the other side may have been first
		}
		c.mu.Unlock()
		all.Wait()
	})
	return c
}

func (c *cutter) begin() { c.on.Store(true) }
func (c *cutter) end()   { c.on.Store(false) }

// byName is how many commits of each kind were cut.
func (c *cutter) byName() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.names)
}

// fate decides what becomes of a commit.
func (c *cutter) fate(name string) (cut, early bool) {
	if !c.on.Load() {
		return false, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(oneInCuts) > 0 {
		return false, false
	}
	c.names[name]++ // by turns, so that each kind is cut in both ways
	return true, c.names[name]%2 == 0
}

func (c *cutter) track(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = true
}

func (c *cutter) closeAll(conns ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		delete(c.open, conn)
		_ = conn.Close() // the other side may have been first
	}
}

func (c *cutter) serve(client net.Conn) {
	network, address := pgconn.NetworkAddress(c.target.Host, c.target.Port)
	server, err := (&net.Dialer{}).DialContext(context.Background(), network, address)
	if err != nil {
		_ = client.Close() // as a server that can't be reached
		return
	}
	c.track(client)
	c.track(server)
	defer c.closeAll(client, server)
	var swallow atomic.Bool // the answer to this must not arrive
	var both sync.WaitGroup
	both.Go(func() {
		defer c.closeAll(client, server)
		c.ask(client, server, &swallow)
	})
	both.Go(func() {
		defer c.closeAll(client, server)
		c.answer(client, server, &swallow)
	})
	both.Wait()
}

// ask passes on what the program says, until a commit is cut.
func (c *cutter) ask(client io.Reader, server io.Writer, swallow *atomic.Bool) {
	// The first message has no type.
	first := make([]byte, 4)
	if _, err := io.ReadFull(client, first); err != nil {
		return
	}
	rest := make([]byte, binary.BigEndian.Uint32(first)-4)
	if _, err := io.ReadFull(client, rest); err != nil {
		return
	}
	if _, err := server.Write(append(first, rest...)); err != nil {
		return
	}
	prepared := map[string]string{} // the first line of each statement, by its name on this connection
	for {
		head, body, err := readMessage(client)
		if err != nil {
			return
		}
		name := ""
		switch head[0] {
		case 'P': // parse: a name and a statement
			statement, sql := cString(body)
			prepared[statement], _, _ = strings.Cut(string(sql), "\n")
		case 'B': // bind: of a portal, of a statement
			_, after := cString(body)
			statement, _ := cString(after)
			for _, line := range committing {
				if prepared[statement] == line {
					name = line
				}
			}
		case 'Q':
			if sql, _ := cString(body); strings.EqualFold(strings.TrimSpace(sql), "commit") {
				name = "commit"
			}
		}
		if name != "" {
			cut, early := c.fate(name)
			switch {
			case cut && early:
				c.before.Add(1)
				return
			case cut:
				c.after.Add(1)
				swallow.Store(true)
			}
		}
		if _, err := server.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// answer passes on what the server says, until an answer is to be lost: then it waits for its end.
func (c *cutter) answer(client io.Writer, server io.Reader, swallow *atomic.Bool) {
	for {
		head, body, err := readMessage(server)
		if err != nil {
			return
		}
		if swallow.Load() {
			if head[0] == 'Z' { // ready for the next: carried out
				return
			}
			continue
		}
		if _, err := client.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// readMessage reads a message: its type and length, and the rest.
func readMessage(r io.Reader) (head, body []byte, err error) {
	head = make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length < 4 {
		return nil, nil, errors.New("no message of Postgres")
	}
	body = make([]byte, length-4)
	_, err = io.ReadFull(r, body)
	return head, body, err
}

// cString reads a text that ends with a zero, and gives what follows.
func cString(b []byte) (string, []byte) {
	text, rest, _ := bytes.Cut(b, []byte{0})
	return string(text), rest
}
