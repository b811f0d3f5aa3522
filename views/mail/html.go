package mail

import (
	"html"
	"net/url"
	"strings"
)

// Inline styles only: many mail programs drop a style sheet. Colours are given in
// pairs and only for the button, so that a program with a dark ground may choose
// its own for all that is read.
const (
	styleBody    = "margin:0;padding:24px 16px;font-family:-apple-system,'Segoe UI','Hiragino Sans','Noto Sans JP',Meiryo,sans-serif;font-size:16px;line-height:1.6"
	styleRoom    = "max-width:600px;margin:0 auto;overflow-wrap:anywhere"
	stylePara    = "margin:0 0 16px"
	styleRows    = "margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid #2f6f5e"
	styleLabel   = "font-weight:600"
	styleButton  = "display:inline-block;margin:8px 0;padding:12px 24px;border-radius:8px;background-color:#1f5f4f;color:#ffffff;font-weight:600;text-decoration:none"
	styleSmall   = "font-size:14px"
	styleFooter  = "margin:32px 0 16px;padding:16px 0 0;border-top:1px solid #8a8a8a;font-size:14px"
	styleClosing = "margin:0 0 16px;font-size:14px"
	styleHidden  = "display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px"
)

// html sets the message as an HTML document: no pictures, no scripts, nothing that
// is fetched when the mail is opened, so that opening it tells nobody.
func (w *writer) html(subject string) string {
	var b strings.Builder
	put := func(parts ...string) {
		for _, part := range parts {
			b.WriteString(part)
		}
	}
	lang := w.c.Lang()
	put("<!DOCTYPE html>\n<html lang=\"", lang, "\" dir=\"ltr\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
		"<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"supported-color-schemes\" content=\"light dark\">\n",
		// Times and numbers are not telephone numbers and appointments of the mail program's own making.
		"<meta name=\"format-detection\" content=\"telephone=no, date=no, address=no, email=no\">\n",
		"<title>", markup(subject), "</title>\n</head>\n<body lang=\"", lang, "\" style=\"", styleBody, "\">\n")
	if first := w.preheader(); first != "" {
		put("<div style=\"", styleHidden, "\">", markup(first), "</div>\n")
	}
	put("<div style=\"", styleRoom, "\">\n")
	para := stylePara
	for _, block := range w.blocks {
		style, lines := para, block
		switch {
		case block[0].rule:
			// The line itself is drawn; the words of the plain text's are not needed.
			style, para, lines = styleFooter, styleClosing, block[1:]
		case rowsOnly(block):
			style = styleRows
		}
		if len(lines) == 0 {
			continue
		}
		put("<p style=\"", style, "\">")
		for i, l := range lines {
			if i > 0 {
				put("<br>\n")
			}
			put(w.lineHTML(l))
		}
		put("</p>\n")
	}
	put("</div>\n</body>\n</html>\n")
	return b.String()
}

func rowsOnly(block []line) bool {
	for _, l := range block {
		if l.label == "" {
			return false
		}
	}
	return true
}

func (w *writer) lineHTML(l line) string {
	switch {
	case l.link != "" && !opens(l.link):
		return "<bdi>" + markup(l.link) + "</bdi>"
	case l.action != "":
		to := html.EscapeString(l.link)
		return "<a href=\"" + to + "\" style=\"" + styleButton + "\">" + markup(l.action) + "</a><br>\n<a href=\"" + to + "\" style=\"" + styleSmall + "\">" + markup(l.link) + "</a>"
	case l.link != "":
		return "<a href=\"" + html.EscapeString(l.link) + "\">" + markup(l.link) + "</a>"
	case l.label != "":
		const label, value = "\x01", "\x02" // which no text has: escaping them changes nothing
		row := markup(w.c.T("mail.row", "label", label, "value", value))
		row = strings.Replace(row, value, "<bdi>"+markup(l.text)+"</bdi>", 1)
		return strings.Replace(row, label, "<span style=\""+styleLabel+"\">"+markup(l.label)+"</span>", 1)
	}
	return markup(l.text)
}

// preheader is what lists of mails show beside the subject: when it is, or by when
// to answer, which the subject has no room for.
func (w *writer) preheader() string {
	l := w.l
	switch {
	case (l.Kind == Offer || l.Kind == ConfirmEmail) && !l.Until.IsZero():
		return w.c.T("mail.pre.until", "time", w.at(l.Until))
	case l.Kind == MyBookings || l.toStaff() || l.Slot.Start.IsZero():
		return ""
	}
	return w.span(l.Slot)
}

// opens reports whether a link is one that may be followed. Some are typed by the
// venue: nothing but an ordinary page may stand behind a press.
func opens(link string) bool {
	u, err := url.Parse(link)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// Signs that keep a name apart from its neighbours, whichever way it is read.
const (
	isolate      = '\u2068'
	popIsolate   = '\u2069'
	isolateLeft  = '\u2066'
	isolateRight = '\u2067'
)

// markup escapes a text once, and makes elements of the signs that keep names
// apart: mail programs know <bdi> better. What is opened in a text is closed in it.
func markup(text string) string {
	var b strings.Builder
	depth := 0
	for _, r := range html.EscapeString(text) {
		switch {
		case r == isolate || r == isolateLeft || r == isolateRight:
			depth++
			b.WriteString("<bdi>")
		case r == popIsolate && depth > 0:
			depth--
			b.WriteString("</bdi>")
		case r == popIsolate:
		default:
			b.WriteRune(r)
		}
	}
	for ; depth > 0; depth-- {
		b.WriteString("</bdi>")
	}
	return b.String()
}
