// Package web answers people: customers under /{tenant}, staff under /staff. It
// decides nothing about seats. A handler decodes a form, makes one call of the
// store and answers; the store's outcome says what became of the press.
//
// # A request
//
// routes.go has every address, one line each. A handler returns an error;
// handle turns it into an answer: an Outcome of the store becomes the page that
// outcome.go says, a problem (no form, too large, not from here) its error page, a
// visitor who has left becomes nothing, and everything else the page for our
// own faults, which was rendered when the program started. Pages are rendered
// into a buffer and then written, once.
//
// # A press
//
// Forms post. What was done is answered by 303 to a page with an address of its
// own (see), so that a reload repeats a GET. What was not done is answered at
// once, by the function that also answers the page's GET, given the outcome or
// the form with its faults:
//
//   - 422, a field is wrong: the same page, with what was typed and the fault
//     beside the field;
//   - 409 or 410, lost, stale or over: the page of the present state, with a
//     banner that says what happened and what can be done, and the nearest free
//     slots where there are seats to be had;
//   - 404, absent or somebody else's: one page for both, which shows nothing of
//     what was asked for. A secret link that opens nothing has its own words;
//   - 503 with Retry-After, busy: nothing is known to have happened.
//
// The only 200 that answers a press is a hold that carries along what was typed
// into an earlier one: it may stand neither in an address nor in the session.
//
// Script or not, htmx or not, the answer is the same whole page, and no handler
// looks at how it was asked. GET and HEAD change nothing: a link in a mail can
// be opened by any scanner. The one thing that a GET takes is the flash, which
// is said once.
//
// # Who is who
//
// A browser is a visitor from its first press on: a random id in its session,
// which owns its holds and finds the own hold again on the slot's page. Whoever
// has the link of a reservation owns it, with or without a session. A tenant is
// who the path names; every id and token is looked up within it.
//
// # Time
//
// Deadlines are the database's: pages show the shown deadline and the seconds
// left at the read. A hold or an offer is shown as over when its enforced
// deadline has passed, whether or not it has been swept; between the two the
// form still works, and no page speaks of it. The server's own clock is used
// for "today" in calendars and for sessions only.
//
// # Pages that follow
//
// A slot's page, a place in the queue and the staff's day follow what happens by
// a stream of server-sent events (live.go). One hub (live_hub.go) reads what all
// viewers of this instance look at, in one statement; the program tells it of
// changes by SlotsChanged, and it looks by itself every two seconds. A stream
// sends the same components as the page, finished and in its language; without
// a script the page says what was so when it was made.
//
// # Language
//
// What the address names (?lang=, which search engines and frames use; a press
// there keeps it); what was chosen by press (kept in the session); on a secret
// link the language of its person; then Accept-Language; then the venue's.
//
// # What nobody else may learn
//
// The log has the pattern of a route, never its path, and no address. Pages
// with a token in their path are not stored, not indexed and send no Referer to
// others. Absolute links are made from the configured public address.
package web
