package views

// OpenAPIURL is the document that describes the API.
func OpenAPIURL() string { return "/api/v1/openapi.json" }

// APIPage shows the API to people who write programs. Names, methods and the
// English sentences of the document are the same in every language.
type APIPage struct {
	Page        Page
	DocumentURL string
	Operations  []APIOperation
}

// APIOperation is one operation.
type APIOperation struct {
	ID           string
	Method, Path string
	Text         string
	Scopes       []string
	Status       int
	Fields       []APIField // of the query
	Body, Answer string     // their shapes, as JSON; Body empty: none
	Faults       []string
}

// APIField is a parameter.
type APIField struct{ Name, Text string }
