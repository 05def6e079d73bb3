package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep JSON of a request may be nested.
const MaxDepth = 1000

// maxMembers is far above what any operation has; it bounds the search for doubles.
const maxMembers = 200

// Decode reads the parameters of a request of the operation spec. It returns a
// value (not a pointer) of the type of spec.Input with defaults applied and enum
// values as declared. The error is an *Error with INVALID_ARGUMENT: a field that
// is unknown, given twice, of the wrong type, out of bounds or missing. A null
// counts as absent.
func Decode(spec Spec, params json.RawMessage) (any, error) {
	t := reflect.TypeOf(spec.Input)
	fields := Fields(spec.Input)
	v := reflect.New(t).Elem()
	for _, f := range fields {
		f.setDefault(v.FieldByIndex(f.Index))
	}
	entries, err := readObject(params)
	if err != nil {
		return nil, err
	}
	given := map[string]entry{}
	for _, e := range entries {
		if e.name == "operation" && spec.Tool != "" {
			var op string
			if json.Unmarshal(e.value, &op) != nil || foldName(op) != foldName(spec.Name) {
				return nil, Errorf(InvalidArgument, "operation %s does not go with %s", e.value, spec.Methods()[0])
			}
			continue
		}
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == e.name || slices.Contains(f.Also, e.name) })
		if i < 0 {
			if isNull(e.value) && fieldOfTool(spec.Tool, e.name) {
				continue
			}
			return nil, unknownField(spec, fields, e.name)
		}
		if isNull(e.value) {
			continue
		}
		f := fields[i]
		if before, twice := given[f.Name]; twice && !sameJSON(before.value, e.value) {
			return nil, Errorf(InvalidArgument, "%s and %s are the same field and must be equal; give one of them", before.name, e.name)
		}
		given[f.Name] = e
		if err := f.set(v.FieldByIndex(f.Index), e); err != nil {
			return nil, err
		}
	}
	for _, f := range fields {
		if _, ok := given[f.Name]; f.Required && !ok {
			return nil, Errorf(InvalidArgument, "%s needs %s: %s", spec.Name, f.Name, f.Doc)
		}
	}
	return v.Interface(), nil
}

// set writes a value that was given under some name of the field.
func (f Field) set(v reflect.Value, e entry) error {
	if err := f.read(v, e.value); err != nil {
		if inner, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return Errorf(InvalidArgument, "%s has no field %s", e.name, inner)
		}
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) && te.Field != "" && te.Field != e.name {
			return Errorf(InvalidArgument, "%s.%s must be %s, not %s", e.name, te.Field, typeName(te.Type), te.Value)
		}
		return Errorf(InvalidArgument, "%s must be %s, not %s", e.name, typeName(f.Type), excerpt(e.value))
	}
	if f.Min != nil && v.Kind() == reflect.Int && v.Int() < int64(*f.Min) {
		return Errorf(InvalidArgument, "%s must be at least %d, not %d", e.name, *f.Min, v.Int())
	}
	if f.Enum == nil {
		return nil
	}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			if err := f.fold(v.Index(i), e.name); err != nil {
				return err
			}
		}
		return nil
	}
	return f.fold(v, e.name)
}

// read decodes a value strictly, the kinds without fields of their own the short way.
func (f Field) read(v reflect.Value, value json.RawMessage) error {
	switch v.Kind() {
	case reflect.String, reflect.Int, reflect.Bool:
		return json.Unmarshal(value, v.Addr().Interface())
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	return dec.Decode(v.Addr().Interface())
}

// fold replaces an enum value by its declared spelling.
func (f Field) fold(v reflect.Value, name string) error {
	for _, allowed := range f.Enum {
		if strings.EqualFold(allowed, v.String()) {
			v.SetString(allowed)
			return nil
		}
	}
	e := Errorf(InvalidArgument, "%s must be one of %s, not %q", name, strings.Join(f.Enum, ", "), v.String())
	e.Suggestions = Nearest(v.String(), f.Enum, 1)
	return e
}

func unknownField(spec Spec, fields []Field, name string) error {
	e := Errorf(InvalidArgument, "%s has no field %q", spec.Name, name)
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	e.Suggestions = Nearest(name, names, 1)
	switch {
	case len(e.Suggestions) > 0:
		e.Message += "; did you mean " + e.Suggestions[0] + "?"
	default:
		e.Message += "; it has " + strings.Join(names, ", ")
	}
	return e
}

// fieldOfTool reports whether some operation of a broad tool has a field:
// clients that fill in a tool's whole schema send null for the others'.
func fieldOfTool(tool, name string) bool {
	if tool == "" {
		return false
	}
	for _, s := range catalogue().specs {
		if s.Tool == tool && slices.ContainsFunc(Fields(s.Input), func(f Field) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}

type entry struct {
	name  string
	value json.RawMessage
}

// readObject returns the members of a JSON object in order. No name comes twice.
func readObject(raw json.RawMessage) ([]entry, error) {
	raw = orEmpty(raw)
	if err := checkText(raw); err != nil {
		return nil, err
	}
	if !isObject(raw) {
		return nil, notObject(raw)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, Errorf(InvalidArgument, "parameters are not valid JSON: %v", err)
	}
	var out []entry
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, Errorf(InvalidArgument, "parameters are not valid JSON: %v", err)
		}
		e := entry{name: name.(string)}
		if err := dec.Decode(&e.value); err != nil {
			return nil, Errorf(InvalidArgument, "parameters are not valid JSON: %v", err)
		}
		if slices.ContainsFunc(out, func(o entry) bool { return o.name == e.name }) {
			return nil, Errorf(InvalidArgument, "%s is given twice", e.name)
		}
		if out = append(out, e); len(out) > maxMembers {
			return nil, Errorf(InvalidArgument, "parameters have more than %d fields", maxMembers)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, Errorf(InvalidArgument, "parameters are not valid JSON: %v", err)
	}
	if rest := bytes.TrimSpace(raw[dec.InputOffset():]); len(rest) > 0 {
		return nil, Errorf(InvalidArgument, "there is text after the parameters")
	}
	return out, nil
}

// checkText refuses what a JSON decoder would change in silence (bytes that are
// not UTF-8 and halves of surrogate pairs become U+FFFD, and a path or a buffer
// with it another one), and nesting that costs more than it can mean.
func checkText(raw []byte) error {
	if !utf8.Valid(raw) {
		return Errorf(InvalidArgument, "parameters are not valid UTF-8")
	}
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '"':
			inString = false
		case inString && c == '\\':
			n, ok := escape(raw[i:])
			if !ok {
				return Errorf(InvalidArgument, "a string of the parameters holds half of a surrogate pair")
			}
			i += n - 1
		case inString:
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return Errorf(InvalidArgument, "parameters are nested deeper than %d", MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// escape returns the length of the escape sequence at the start of b, a whole
// surrogate pair counting as one; ok is false for half of a pair.
func escape(b []byte) (n int, ok bool) {
	unit, valid := unit16(b)
	switch {
	case !valid:
		return 2, true
	case unit >= 0xDC00 && unit <= 0xDFFF:
		return 0, false
	case unit < 0xD800 || unit > 0xDBFF:
		return 6, true
	}
	low, valid := unit16(b[6:])
	return 12, valid && low >= 0xDC00 && low <= 0xDFFF
}

func unit16(b []byte) (u rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if c <= '9' {
			d = strings.IndexByte("0123456789", c)
		}
		if d < 0 {
			return 0, false
		}
		u = u<<4 | rune(d)
	}
	return u, true
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || isNull(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

func notObject(raw json.RawMessage) error {
	return Errorf(InvalidArgument, "parameters must be a JSON object, not %s", excerpt(raw))
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func excerpt(raw []byte) string {
	s := string(bytes.TrimSpace(raw))
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
