// Package views turns finished values into pages. A component takes one struct
// of this package, in which every text is already in the reader's language and
// every time already written; it decides nothing and knows no clock, no store
// and no request. Only the language and the script nonce come from the context.
//
// The conventions of all pages:
//
//   - A form has a method, an action and a submit button, and works without a
//     script. With htmx the same form is boosted: it posts the same fields, and
//     #main and #chrome are taken out of the whole page that comes back.
//   - No inline script, no inline style, no on…= attribute: the content
//     security policy would refuse them. app.js finds its work by data-
//     attributes.
//   - A time is written as a When or a Deadline, and stands in a <time> that
//     does not break.
//   - What went wrong with a field stands beside it (data-error) and once more
//     in the summary on top, which receives focus.
//   - Status is a colour, a mark and a word. Red means destruction or a real
//     error; a lost race is not one.
package views
