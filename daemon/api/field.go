package api

import (
	"reflect"
	"strconv"
	"strings"
)

// Field is one field of an operation's input, as its struct tags declare it.
type Field struct {
	Name     string       // in JSON
	Type     reflect.Type // string, int, bool, []string, map[string]string or a struct
	Doc      string       //
	Default  string       // as the tag writes it; empty when absent means the zero value
	Required bool         //
	Enum     []string     // the values allowed, of each element for a list
	Min      *int         //
	Also     []string     // other names under which it is accepted
	CLI      string       // "-", "path", "symbol" or empty
	Index    []int        // for reflect.Value.FieldByIndex on the input type
}

// Fields returns the fields of an input type, embedded ones flattened, in the
// order of declaration. The result is shared: do not change it.
func Fields(input any) []Field {
	t := reflect.TypeOf(input)
	c := catalogue()
	if f, ok := c.fields.Load(t); ok {
		return f.([]Field)
	}
	f := readFields(t)
	c.fields.Store(t, f)
	return f
}

func readFields(t reflect.Type) []Field {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var out []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if sf.Anonymous && name == "" {
			for _, f := range readFields(sf.Type) {
				f.Index = append([]int{i}, f.Index...)
				out = append(out, f)
			}
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		f := Field{
			Name: name, Type: sf.Type, Index: []int{i},
			Doc: sf.Tag.Get("doc"), Default: sf.Tag.Get("default"),
			Required: sf.Tag.Get("required") == "true",
			Enum:     splitTag(sf.Tag.Get("enum"), "|"),
			Also:     splitTag(sf.Tag.Get("also"), ","),
			CLI:      sf.Tag.Get("cli"),
		}
		if v, ok := sf.Tag.Lookup("min"); ok {
			if n, err := strconv.Atoi(v); err == nil {
				f.Min = &n
			}
		}
		out = append(out, f)
	}
	return out
}

func splitTag(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

// setDefault writes the default of f into the field v.
func (f Field) setDefault(v reflect.Value) {
	if f.Default == "" {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.Default)
	case reflect.Bool:
		v.SetBool(f.Default == "true")
	case reflect.Int:
		if n, err := strconv.ParseInt(f.Default, 10, 64); err == nil {
			v.SetInt(n)
		}
	}
}
