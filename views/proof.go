package views

import (
	"net/url"
	"strings"
)

// FieldProof is what a link in a mail carries besides its secret: its reader has the mailbox of the address.
const FieldProof = "proof"

// Proven adds a proof to the address of a page or of a press; an empty one adds nothing.
func Proven(address, proof string) string {
	if proof == "" {
		return address
	}
	mark := "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	return address + mark + url.Values{FieldProof: {proof}}.Encode()
}
