package store

import "crypto/subtle"

// A link alone does not prove that its holder reads the mail of the address in
// it: whoever joins a waitlist gets the link in the browser, whatever address
// was typed, and from the entry the way to its offer. So the links in mails
// carry a proof besides, which stands in mails to that very address and nowhere
// else. Whoever shows it is told what else is stored under the address.

// ReservationProof is what a mail to the address of the reservation adds to its link.
func (s *Store) ReservationProof(r Reservation) string {
	return s.addressProof(r.TenantID, r.ID, r.Generation, r.Email)
}

// EntryProof is what a mail to the address of the entry adds to its links.
func (s *Store) EntryProof(e Entry) string {
	return s.addressProof(e.TenantID, e.ID, e.Generation, e.Email)
}

// ReservationProven reports whether shown is the proof of the reservation's present address and link.
func (s *Store) ReservationProven(r Reservation, shown string) bool {
	return r.Email != "" && sameToken(shown, s.ReservationProof(r))
}

// EntryProven reports whether shown is the proof of the entry's present address and link.
func (s *Store) EntryProven(e Entry, shown string) bool {
	return e.Email != "" && sameToken(shown, s.EntryProof(e))
}

// The generation and the address are parts of it: a link that is revoked and an
// address that is corrected end it.
func (s *Store) addressProof(tenant, id string, generation int, email string) string {
	return s.token(linkAddress, tenant, id+" "+PersonKey(email), generation)
}

func sameToken(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
