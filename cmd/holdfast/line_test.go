package main

import (
	"log/slog"
	"testing"
)

func TestTheAddressOfLINEIsSchemeAndHost(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"https://api.line.me": true, "http://127.0.0.1:9000/": true, "": false, "api.line.me": false, "ftp://api.line.me": false,
		"https://api.line.me/v2": false, "https://user:pass@api.line.me": false, "https://api.line.me?x": false, "https://": false,
	} {
		var a lineAPI
		if err := a.UnmarshalText([]byte(text)); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	if way, err := (config{}).line(nil, slog.New(slog.DiscardHandler)); err != nil || way == nil {
		t.Errorf("without a setting: %v", err)
	}
}
