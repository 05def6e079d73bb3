package wire

// Refusal returns the code and message of the answer, for callers that know
// the error only by this method.
func (e *CallError) Refusal() (code int, message string) { return int(e.Code), e.Message }
