package mail

import "holdfast/views/i18n"

// inLine are the sentences that speak of mails, as they stand in a message that is
// read in LINE; empty: left out.
var inLine = map[i18n.Key]i18n.Key{
	"mail.joined.not_yet":  "mail.line.not_yet",
	"mail.queue.order":     "mail.line.order",
	"mail.queue.broadcast": "mail.line.broadcast",
	"mail.queue.from":      "",
	"mail.footer.find":     "mail.line.find",
	"mail.footer.reply":    "",
	"mail.footer.no_reply": "",
}

// wording is a sentence as the reader's way has it. False: it has none.
func (w *writer) wording(key i18n.Key) (i18n.Key, bool) {
	if other, speaks := inLine[key]; w.l.Line && speaks {
		return other, other != ""
	}
	return key, true
}
