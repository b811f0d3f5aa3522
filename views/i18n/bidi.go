package i18n

import "unicode"

// Isolate keeps text that runs from right to left, and marks that turn the
// direction, from scrambling what stands beside it in a sentence. Text without
// any of them, nearly all of it, is left as it is.
func Isolate(text string) string {
	for _, r := range text {
		if unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Bidi_Control) {
			return "\u2068" + text + "\u2069"
		}
	}
	return text
}
