package views

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"holdfast/views/i18n"
)

// One press copies the address, says so, and leaves it selected for whoever would rather press the keys.
func TestStaffFeedCopiesTheAddress(t *testing.T) {
	t.Parallel()
	say := staffSayIn(i18n.JA)
	address := "https://reserve.aozora.example" + CalendarFeedURL("aozora", strings.Repeat("k7p2m4xq", 4), "", "")
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StaffFeedURL("aozora"), func(w http.ResponseWriter, _ *http.Request) {
		staffWrite(t, w, http.StatusOK, staffRender(t, i18n.JA, StaffFeed(StaffFeedPage{
			Page: staffTestPage(say, "カレンダーで見る"), Staff: staffTestFrame("settings"), Address: address, OpenURL: "webcal://reserve.aozora.example/", ActionURL: StaffFeedURL("aozora"), OffURL: StaffFeedOffURL("aozora"),
		})))
	})
	base := staffServe(t, mux)
	ctx := browser(t)
	complaints := staffComplaints(t, ctx)
	screen(t, ctx, 390, 700, "light")
	visit(t, ctx, base+StaffFeedURL("aozora"))
	// By the keyboard: browsers copy only for somebody who presses.
	ask[bool](t, ctx, `document.querySelector("[data-copy]").focus(), true`)
	for _, p := range []input.DispatchKeyEventParams{{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Text: "\r"}, {Type: input.DispatchKeyEventTypeKeyUp, Key: "Enter"}} {
		command(t, ctx, input.DispatchKeyEvent, p)
	}
	staffUntilTrue(t, ctx, `document.querySelector("[data-copy]").textContent === "コピーしました"`)
	if got := ask[string](t, ctx, `(a => a.value.slice(a.selectionStart, a.selectionEnd))(document.querySelector("#feed-address"))`); got != address {
		t.Errorf("%q is selected", got)
	}
	if link := ask[string](t, ctx, `document.querySelector(".feed-take a").href`); link != "webcal://reserve.aozora.example/" {
		t.Errorf("the program is opened with %q", link)
	}
	complaints()
}
