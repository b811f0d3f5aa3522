package views

import "github.com/a-h/templ"

// importAttributes tie a control to its hint and its error.
func importAttributes(id, problem string) templ.Attributes {
	a := templ.Attributes{"aria-describedby": id + "-hint"}
	if problem != "" {
		a["aria-describedby"], a["aria-invalid"] = id+"-hint "+id+"-error", "true"
	}
	return a
}
