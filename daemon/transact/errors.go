package transact

import (
	"context"
	"errors"
	"fmt"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
)

// failure is what the details of a failed validation hold.
type failure struct {
	RolledBack bool            `json:"rolledBack"` // files were written and put back
	Validation *api.Validation `json:"validation"`
}

// failed is the refusal for what the checks found.
func (r *run) failed(rolledBack bool) error {
	r.check.Success = false
	done := "nothing was written"
	if rolledBack {
		done = "everything was put back"
	}
	details := failure{RolledBack: rolledBack, Validation: r.check}
	if r.check.TimedOut {
		return &api.Error{Code: api.Timeout, Details: details, Message: fmt.Sprintf(
			"the build did not end in time, %s: raise edit_timeout_seconds in [validate], or pass validateCompilation: false", done)}
	}
	message := fmt.Sprintf("the change brings %s, %s", count(len(r.check.NewErrors), "new error"), done)
	if len(r.check.NewErrors) > 0 {
		message += ": " + place(r.check.NewErrors[0])
	}
	return &api.Error{Code: api.ValidationFailed, Details: details,
		Message: message + "; change the plan, or pass rollbackOnError: false to keep it"}
}

func place(p api.Problem) string {
	switch {
	case p.File == "":
		return p.Message
	case p.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// cancelled is the refusal for a caller that went away or ran out of time.
func cancelled(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return api.Errorf(api.Timeout, "the request ran out of time, nothing was changed: give it more and run it again")
	}
	return api.Errorf(api.Cancelled, "the request was cancelled, nothing was changed")
}

// broken is the refusal for checks that could not be run.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	if known := new(api.Error); errors.As(err, &known) {
		return known
	}
	if errors.Is(err, view.ErrStale) {
		return api.Errorf(api.StaleContent, "a file changed while the build was prepared, nothing was changed: run the operation again (%v)", err)
	}
	return api.Errorf(api.Internal, "the build could not be run, nothing was changed: %v", err)
}
