package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"holdfast/store"
)

// Two slots in a row, the questions of the service, details kept on the device,
// and a new address: as somebody does it with a phone.
func TestDetailsAreAskedKeptAndCorrected(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		name := "with JavaScript"
		if !scripts {
			name = "without JavaScript"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serveProduct(t, func(policies *store.Policies) { policies.SlotsTogether = 2 })
			service, err := p.Store.AddService(t.Context(), store.Service{
				TenantID: p.Tenant.ID, Slug: "fair", Name: store.Text{"ja": "試食会", "en": "Tasting"}, Duration: time.Hour, Capacity: 4, Active: true,
				Questions: []store.Question{
					{
						ID: "guests", Kind: store.QuestionChoice, Required: true, Label: store.Text{"ja": "お考えの人数", "en": "Guests"},
						Options: []store.QuestionOption{{ID: "few", Label: store.Text{"ja": "10名まで", "en": "Up to 10"}}, {ID: "many", Label: store.Text{"ja": "11名から", "en": "More"}}},
					},
					{ID: "terms", Kind: store.QuestionConsent, Required: true, Label: store.Text{"ja": "規約を読みました", "en": "I have read the rules"}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			p.Service = service
			p.Exec(t, "UPDATE tenants SET privacy_url = 'https://shop.example/privacy', privacy_version = '2026-04', legal_url = 'https://shop.example/legal'")
			first, second := p.Slot(t, 4), p.Slot(t, 4)

			v := p.visitor(t, phone, scripts)
			v.open("/shop/slots/" + first.ID)
			v.do(chromedp.Click(chromedp.CSS(`input[name="slots"][value="2"]`)))
			v.press(`form[action$="/hold"] button[type=submit]`, `[data-state="held"]`)
			v.sees(fmt.Sprintf(`[data-slot=%q]`, first.ID))
			v.sees(fmt.Sprintf(`[data-slot=%q]`, second.ID))
			v.sees(`main a[href="https://shop.example/legal"]`)
			v.fill("name", "佐藤 花子")
			v.fill("email", "hanako@example.com")
			if scripts {
				// What was chosen and ticked outlives a change of language and back.
				v.do(chromedp.SetValue(chromedp.CSS(`select[name="q_guests"]`), "few"), chromedp.Click(chromedp.CSS(`input[name="q_terms"]`)))
				for _, lang := range []string{"en", "ja"} {
					v.press(fmt.Sprintf(`button[name="lang"][value=%q]`, lang), fmt.Sprintf(`#main[data-lang=%q]`, lang))
				}
				kept := ask[string](v, `[document.querySelector("[name=q_guests]").value, document.querySelector("[name=q_terms]").checked, document.querySelector("#main [name=name]").value].join()`)
				if kept != "few,true,佐藤 花子" {
					t.Errorf("after a change of language: %s", kept)
				}
				v.do(chromedp.Click(chromedp.CSS("#remember")))
			} else {
				v.do(chromedp.SetValue(chromedp.CSS(`select[name="q_guests"]`), "few"), chromedp.Click(chromedp.CSS(`input[name="q_terms"]`)))
			}
			v.press(`form[action$="/confirm"] button[type=submit]`, `[data-state="confirmed"]`)
			booking := v.location()
			p.mails.wait(t, p, "hanako@example.com", "/shop/reservations/")
			held := p.Read(t, first)
			if other := p.Read(t, second); held.Confirmed != 1 || other.Confirmed != 1 {
				t.Errorf("confirmed %d and %d", held.Confirmed, other.Confirmed)
			}

			v.do(chromedp.Click(chromedp.CSS("#contact summary")), chromedp.SetValue(chromedp.CSS(`#contact [name="email"]`), "a@example"))
			if scripts { // the browser's own check is passed by; the server's stands beside the field
				ask[string](v, `(document.querySelector("#contact form").noValidate = true, "")`)
				v.press("#contact button[type=submit]", `[data-error="email"]`)
				if on := ask[string](v, `document.activeElement.id`); on != "error-summary" {
					t.Errorf("after a refused correction the focus is on %q", on)
				}
			}
			v.do(chromedp.SetValue(chromedp.CSS(`#contact [name="email"]`), "new+place@example.com"))
			v.press("#contact button[type=submit]", "[data-email-pending]")
			link := p.mails.wait(t, p, "new+place@example.com", "/shop/email-changes/").link(t, "/shop/email-changes/")
			elsewhere := p.visitor(t, phone, scripts)
			elsewhere.open(link)
			elsewhere.press(`form[action*="/email-changes/"] button[type=submit]`, `[data-state="done"]`)
			p.mails.wait(t, p, "hanako@example.com", "別のメールアドレスに変わりました")
			elsewhere.press(`main a.button`, `[data-state="confirmed"]`)
			if elsewhere.location() != booking {
				t.Errorf("led to %s", elsewhere.location())
			}

			v.open("/shop/slots/" + second.ID)
			v.press(`form[action$="/hold"] button[type=submit]`, `[data-state="held"]`)
			if scripts {
				known := `["name", "email"].map((n) => document.querySelector("#main form [name=" + n + "]").value).join()`
				if got := ask[string](v, known); got != "佐藤 花子,hanako@example.com" {
					t.Errorf("filled in: %s", got)
				}
				v.do(chromedp.Click(chromedp.CSS("[data-forget]")))
				if got := ask[string](v, known+` + "|" + Object.keys(localStorage).length`); got != ",|0" {
					t.Errorf("after forgetting: %s", got)
				}
				v.do(chromedp.Reload(), chromedp.WaitReady(chromedp.CSS(`[data-state="held"]`)))
				if got := ask[string](v, known); got != "," {
					t.Errorf("filled in again: %s", got)
				}
			}
			p.followAllLinks(t)
			for _, secret := range []string{"佐藤", "hanako", "new+place", strings.Split(link, "/email-changes/")[1], strings.Split(booking, "/reservations/")[1]} {
				if strings.Contains(p.log.String(), secret) {
					t.Errorf("the log holds %q", secret)
				}
			}
		})
	}
}
