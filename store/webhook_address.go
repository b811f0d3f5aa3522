package store

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// The faults of an address of a webhook; callers compare them with errors.Is.
var (
	ErrWebhookURL     = errors.New("not an address of a server")
	ErrWebhookPlain   = errors.New("not an address that begins with https://")
	ErrWebhookPrivate = errors.New("not an address on the public internet")
)

// LongestWebhookURL is the most that an address may have, in characters.
const LongestWebhookURL = 1000

// NormalizeWebhookURL checks an address to which events are to be sent. It needs
// a host on the public internet and https, unless private says that the operator
// allows others. What a name leads to is checked again at each connection.
func NormalizeWebhookURL(typed string, private bool) (string, error) {
	typed = strings.TrimSpace(typed)
	u, err := url.Parse(typed)
	if err != nil || len(typed) > LongestWebhookURL || u.Opaque != "" || u.User != nil || strings.ContainsFunc(typed, func(r rune) bool { return r <= ' ' || r == '\\' }) {
		return "", ErrWebhookURL
	}
	switch u.Scheme = strings.ToLower(u.Scheme); {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", ErrWebhookURL
	case u.Scheme == "http" && !private:
		return "", ErrWebhookPlain
	}
	host, port := strings.TrimSuffix(u.Hostname(), "."), u.Port()
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) || strings.HasSuffix(u.Host, ":") {
		return "", ErrWebhookURL
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil && addr.Zone() != "":
		return "", ErrWebhookURL
	case err == nil:
		if !private && !PublicAddress(addr) {
			return "", ErrWebhookPrivate
		}
		host = addr.String()
	default:
		if host, err = idna.Lookup.ToASCII(host); err != nil || host == "" {
			return "", ErrWebhookURL
		}
		// One word alone is a name of a local network, and digits at the end an
		// address in one of the old ways of writing it, such as 127.1.
		last := host[strings.LastIndexByte(host, '.')+1:]
		if !private && (last == host || last == "local" || last == "localhost" || last == "internal" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")) {
			return "", ErrWebhookPrivate
		}
	}
	switch {
	case port != "" && !(u.Scheme == "https" && port == "443") && !(u.Scheme == "http" && port == "80"):
		u.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
	default:
		u.Host = host
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment, u.RawFragment = "", ""
	normal := u.String()
	if len(normal) > LongestWebhookURL {
		return "", ErrWebhookURL
	}
	return normal, nil
}

// notPublic are the networks of IPv4 that don't lead to a server on the public
// internet, and the parts of the public range of IPv6 that don't, by the
// registries of special-purpose addresses (RFC 6890 and those that follow it).
var notPublic = func() []netip.Prefix {
	var out []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24",
		"192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20",
	} {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}()

var (
	unicast6  = netip.MustParsePrefix("2000::/3")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// PublicAddress reports whether an address belongs to a server on the public
// internet: not to this machine, a network of its own, a provider's inner
// network, many receivers at once, or a service that tells a machine about
// itself. Addresses that carry one of IPv4 are judged by that one too.
func PublicAddress(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is6() {
		b := a.As16()
		switch {
		case nat64.Contains(a):
			return PublicAddress(netip.AddrFrom4([4]byte(b[12:])))
		case !unicast6.Contains(a):
			return false // all but this range is special
		case sixToFour.Contains(a) && !PublicAddress(netip.AddrFrom4([4]byte(b[2:6]))):
			return false
		}
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
