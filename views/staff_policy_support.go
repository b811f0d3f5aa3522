package views

import "github.com/a-h/templ"

func staffPolicyInput(f StaffPolicyField) templ.Attributes {
	a := templ.Attributes{"id": f.Name, "name": f.Name, "aria-labelledby": f.Name + "-label", "autocomplete": "off"}
	a["aria-describedby"] = f.Name + "-text"
	if f.Err != "" {
		a["aria-describedby"] = f.Name + "-text " + f.Name + "-error"
		a["aria-invalid"] = "true"
	}
	return a
}

func staffClockInput(name, problem string) templ.Attributes {
	a := templ.Attributes{"id": name, "name": name}
	if problem != "" {
		a["aria-describedby"] = name + "-error"
		a["aria-invalid"] = "true"
	}
	return a
}
