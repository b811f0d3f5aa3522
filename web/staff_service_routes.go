package web

import "github.com/go-chi/chi/v5"

// serviceRoutes are services, resources, closed days and the venue itself.
func (s *Server) serviceRoutes(r chi.Router) {
	r.With(s.may(lookAtTheDay)).Get("/services", s.staff(s.getServices))
	r.Group(func(r chi.Router) {
		r.Use(s.may(setUp))
		r.Get("/services/new", s.staff(s.getNewService))
		r.Post("/services/new", s.staff(s.postNewService))
		r.Get("/services/{service}", s.staff(s.getService))
		r.Post("/services/{service}", s.staff(s.postService))
		r.Post("/services/{service}/order", s.staff(s.postServiceOrder))
		r.Get("/services/{service}/retire", s.staff(s.getServiceRetire))
		r.Post("/services/{service}/retire", s.staff(s.postServiceRetire))
		r.Post("/services/{service}/restore", s.staff(s.postServiceRestore))
		r.Get("/services/{service}/picture", s.staff(s.getServicePicture))
		r.Post("/services/{service}/picture", s.staff(s.postServicePicture))
		r.Get("/services/{service}/questions", s.staff(s.getQuestions))
		r.Get("/services/{service}/questions/new", s.staff(s.getNewQuestion))
		r.Post("/services/{service}/questions/new", s.staff(s.postNewQuestion))
		r.Get("/services/{service}/questions/{question}", s.staff(s.getQuestion))
		r.Post("/services/{service}/questions/{question}", s.staff(s.postQuestion))
		r.Post("/services/{service}/questions/{question}/order", s.staff(s.postQuestionOrder))
		r.Get("/services/{service}/questions/{question}/remove", s.staff(s.getQuestionRemove))
		r.Post("/services/{service}/questions/{question}/remove", s.staff(s.postQuestionRemove))
		r.Post("/services/{service}/questions/{question}/restore", s.staff(s.postQuestionRestore))
		r.Get("/resources", s.staff(s.getResources))
		r.Get("/resources/new", s.staff(s.getNewResource))
		r.Post("/resources/new", s.staff(s.postNewResource))
		r.Get("/resources/{resource}", s.staff(s.getResource))
		r.Post("/resources/{resource}", s.staff(s.postResource))
		r.Get("/resources/{resource}/retire", s.staff(s.getResourceRetire))
		r.Post("/resources/{resource}/retire", s.staff(s.postResourceRetire))
		r.Post("/resources/{resource}/restore", s.staff(s.postResourceRestore))
		r.Get("/closed-days", s.staff(s.getClosedDays))
		r.Post("/closed-days", s.staff(s.postClosedDays))
		r.Get("/closed-days/holidays", s.staff(s.getHolidays))
		r.Post("/closed-days/holidays", s.staff(s.postHolidays))
		r.Post("/closed-days/remove", s.staff(s.postClosedRemove))
		r.Get("/changes", s.staff(s.getChanges))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(runVenue))
		r.Get("/venue", s.staff(s.getVenueDetails))
		r.Post("/venue", s.staff(s.postVenueDetails))
	})
}
