package views

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"holdfast/static"
	"holdfast/views/i18n"
)

var (
	shots     = flag.String("shots", "", "photograph the stories into this directory")
	shotsOnly = flag.String("shots-only", "", "only stories whose name holds this")
	shotsSize = flag.String("shots-size", "phone,narrow,desktop", "which sizes")
	shotsLang = flag.String("shots-lang", "ja,en", "which languages")
	shotsMode = flag.String("shots-mode", "light,dark", "which colours")
)

// serveStories serves every story at /LANG/NAME under the policy that the
// product sends.
func serveStories(t testing.TB) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(static.Prefix, static.Handler())
	for _, s := range stories() {
		for _, lang := range i18n.Languages {
			body := render(t, lang, s.make(newBench(t, lang)))
			mux.HandleFunc("/"+lang+"/"+s.name, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'nonce-nonce' 'strict-dynamic'; style-src 'self'; base-uri 'none'; object-src 'none'")
				if _, err := w.Write([]byte(body)); err != nil {
					t.Log(err)
				}
			})
		}
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// browser starts Chromium. The first call on its context starts the program,
// and must neither have a deadline nor be one of several.
func browser(t testing.TB) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func soon(t testing.TB, ctx context.Context) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func visit(t testing.TB, ctx context.Context, url string) {
	t.Helper()
	if err := chromedp.Do(soon(t, ctx), chromedp.Navigate(url)); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

func ask[T any](t testing.TB, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(soon(t, ctx), chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

func command[P, R any](t testing.TB, ctx context.Context, c cdp.Command[P, R], params P) R {
	t.Helper()
	r, err := chromedp.Call(soon(t, ctx), c, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func screen(t testing.TB, ctx context.Context, width, height int64, mode string) {
	t.Helper()
	command(t, ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	command(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
}

// TestStoriesInABrowser opens every story at the narrowest width that is
// promised and holds: nothing is wider than the screen, nothing was refused by
// the policy, targets are big enough. With -shots it photographs them as well.
func TestStoriesInABrowser(t *testing.T) {
	t.Parallel()
	server := serveStories(t)
	ctx := browser(t)
	var (
		mu         sync.Mutex
		complaints []string
	)
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			mu.Lock()
			complaints = append(complaints, m.String()+" "+m.URL)
			mu.Unlock()
		}
	}()
	screen(t, ctx, 320, 640, "light")
	for _, s := range stories() {
		for _, lang := range i18n.Languages {
			visit(t, ctx, server.URL+"/"+lang+"/"+s.name)
			if width := ask[int](t, ctx, `document.documentElement.scrollWidth`); width > 320 {
				t.Errorf("%s.%s is %d px wide on a screen of 320", s.name, lang, width)
			}
			for _, cut := range ask[[]string](t, ctx, spilled) {
				t.Errorf("%s.%s: a text does not fit: %s", s.name, lang, cut)
			}
			for _, target := range ask[[]string](t, ctx, smallTargets) {
				t.Errorf("%s.%s: a target is too small: %s", s.name, lang, target)
			}
			for _, mode := range []string{"light", "dark"} {
				screen(t, ctx, 320, 640, mode)
				for _, pale := range ask[[]string](t, ctx, paleText) {
					t.Errorf("%s.%s %s: too little contrast: %s", s.name, lang, mode, pale)
				}
			}
		}
	}
	mu.Lock()
	for _, c := range complaints {
		t.Errorf("the browser complains: %s", c)
	}
	mu.Unlock()
	if *shots != "" {
		photograph(t, ctx, server.URL)
	}
}

// smallTargets lists what one presses with a finger and is lower than 44 px;
// links inside a sentence are exempt.
const smallTargets = `[...document.querySelectorAll("a, button, summary, input, select, textarea")]
	.filter(e => e.type !== "hidden" && !e.closest("p, .skip") && e.checkVisibility({visibilityProperty: true}))
	.filter(e => e.getBoundingClientRect().height < 43.5)
	.map(e => e.outerHTML.slice(0, 120) + " " + e.getBoundingClientRect().height)`

// spilled lists boxes whose text runs over their edge.
const spilled = `[...document.querySelectorAll(".button, .choice span, .mark, .filter, .service, .day-number, .step-word, .when-time, .slot, .facts, .banner")]
	.filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")
	.map(e => e.className + " " + e.innerText.slice(0, 40))`

// paleText lists text below the contrast that WCAG AA asks for, 4.5 to 1, or 3
// to 1 for large text. Signs that only repeat a word are measured too.
const paleText = `(() => {
	const c = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgba = s => { c.clearRect(0, 0, 1, 1); c.fillStyle = s; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
	const lum = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((a, v, i) => a + v * [.2126, .7152, .0722][i], 0);
	const out = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility({visibilityProperty: true, opacityProperty: true}) || e.closest(".unseen, .skip, svg, [aria-hidden=true].turn, option")) continue;
		if (e.closest("label")?.querySelector(":disabled")) continue;
		const style = getComputedStyle(e);
		let back = document.documentElement, b = e;
		while (b && rgba(getComputedStyle(b).backgroundColor)[3] === 0) b = b.parentElement;
		if (b) back = b;
		const [x, y] = [lum(rgba(style.color)), lum(rgba(getComputedStyle(back).backgroundColor))].sort((p, q) => q - p);
		const ratio = (x + .05) / (y + .05);
		const size = parseFloat(style.fontSize);
		const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 600;
		if (ratio < (large ? 3 : 4.5)) out.add(e.className + " " + walk.currentNode.data.trim().slice(0, 30) + " " + ratio.toFixed(2));
	}
	return [...out];
})()`

func photograph(t *testing.T, ctx context.Context, base string) {
	t.Helper()
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		t.Fatal(err)
	}
	sizes := map[string][2]int64{"phone": {390, 844}, "narrow": {320, 640}, "desktop": {1280, 900}}
	for _, s := range stories() {
		if !strings.Contains(s.name, *shotsOnly) {
			continue
		}
		for lang := range strings.SplitSeq(*shotsLang, ",") {
			for size := range strings.SplitSeq(*shotsSize, ",") {
				for mode := range strings.SplitSeq(*shotsMode, ",") {
					screen(t, ctx, sizes[size][0], sizes[size][1], mode)
					visit(t, ctx, base+"/"+lang+"/"+s.name)
					png, err := chromedp.Run(soon(t, ctx), chromedp.FullScreenshot(100))
					if err != nil {
						t.Fatal(err)
					}
					file := filepath.Join(*shots, strings.Join([]string{s.name, lang, size, mode}, ".")+".png")
					if err := os.WriteFile(file, png, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}
