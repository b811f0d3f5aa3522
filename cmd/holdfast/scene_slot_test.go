package main

import (
	"net/url"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// A full slot with an offer, a party behind it, somebody without an address and a cancelled booking; and its steps.
func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		slot := p.Slot(t, 4)
		booked, wrong := p.Book(t, slot, 2), p.Book(t, slot, 1)
		caller, _, err := p.Store.Book(t.Context(), store.BookRequest{
			TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: store.Contact{Name: "電話 一郎", Kana: "デンワ イチロウ", Phone: "+819055556666", Locale: "ja"}, Actor: shop.Staff,
		})
		check(t, err)
		offered, waiting := p.Join(t, slot, 1), p.Join(t, slot, 2)
		_, err = p.Store.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, SlotID: slot.ID, IDs: []string{wrong.ID}, Actor: shop.Staff, Reason: "押し間違い"})
		check(t, err)
		terms := url.Values{
			views.FieldDate: {slot.StartsAt.In(p.Tenant.Location()).AddDate(0, 1, 0).Format(time.DateOnly)}, views.FieldStart: {"18:30"}, views.FieldEnd: {"24:00"},
			views.FieldService: {p.Service.ID}, views.FieldResource: {p.Resource.ID},
		}
		return []screenPage{
			{"staff-slot-full", views.StaffSlotURL("shop", slot.ID), true},
			{"staff-slot-print", views.StaffSlotPrintURL("shop", slot.ID), true},
			{"staff-slot-history", views.StaffSlotHistoryURL("shop", slot.ID, 0), true},
			{"staff-slot-contact", views.StaffReservationContactURL("shop", slot.ID, caller.ID), true},
			{"staff-slot-rebook", views.StaffReservationRebookURL("shop", slot.ID, wrong.ID), true},
			{"staff-slot-revoke", views.StaffEntryRevokeURL("shop", slot.ID, offered.ID), true},
			{"staff-slot-smaller", views.StaffEntryPartyURL("shop", slot.ID, waiting.ID) + "?party_size=1", true},
			{"staff-slot-capacity", views.StaffSlotCapacityURL("shop", slot.ID) + "?capacity=6", true},
			{"staff-slot-below", views.StaffSlotCapacityURL("shop", slot.ID) + "?capacity=1", true},
			{"staff-slot-party", views.StaffSlotPartyURL("shop", slot.ID) + "?reservation=" + booked.ID + "&party_size=1", true},
			{"staff-slot-terms", views.StaffSlotTermsURL("shop", slot.ID) + "?" + terms.Encode(), true},
			{"staff-slot-message", views.StaffSlotMessageURL("shop", slot.ID), true},
			{"staff-slot-cancel-slot", views.StaffSlotCancelSlotURL("shop", slot.ID), true},
		}
	})
}
