package graph

import "testing"

func TestTypeMatcherTakesTypesAsPeopleNameThem(t *testing.T) {
	for _, c := range []struct {
		wanted, written string
		want            bool
	}{
		{"Task", "Task<Order>", true},
		{"Task<Order>", "Task<Order>", true},
		{"Task<Order>", "System.Threading.Tasks.Task<Shop.Order>", true},
		{"Task<Order>", "Task<List<Order>>", false},
		{"Task<Order>", "Task", false},
		{"Task<Order>", "Task<Order?>", true},
		{"Order", "Task<Order>", false},
		{"Task", "TaskList", false},
		{"Task<List<Order>>", "Task< List<Order> >", true},
		{"Dictionary<string, Order>", "Dictionary<string,Order>", true},

		{"error", "(Order, error)", true},
		{"error", "error", true},
		{"(Order, error)", "(Order, error)", true},
		{"(Order, error)", "(*Order, error)", false},
		{"Order", "*store.Order", true},
		{"*Order", "*store.Order", true},
		{"*Order", "Order", false},
		{"store.Order", "Order", true},
		{"store.Order", "other.Order", false},
		{"[]*example.com/shop-x/store.Order", "[]*store.Order", true},
		{"string", "...string", true},
		{"[]byte", "[]byte", true},
		{"byte", "[]byte", false},
		{"[]*Order", "[]*store.Order", true},
		{"[]*Order", "[]Order", false},
		{"map[string]Order", "map[string]store.Order", true},
		{"map[string]Order", "map[string]Line", false},
		{"map", "map[string]Order", true},
		{"List[Order]", "List[Order]", true},
		{"List", "list.List[Order]", true},
		{"func", "func(ctx context.Context) error", true},
		{"error", "func(ctx context.Context) error", false},
		{"chan Order", "chan Order", true},
		{"Order", "<-chan Order", false},

		{"Order", "&mut Order", true},
		{"Order", "&'a mut Order", true},
		{"&Order", "&'a Order", true},
		{"Saver", "&mut dyn Saver", true},
		{"Box<dyn Saver>", "Box<dyn Saver>", true},
		{"Box<Saver>", "Box<dyn Saver + Send>", false},
		{"Saver", "impl Saver + 'static", true},
		{"Iterator<Item = Order>", "impl Iterator<Item = Order>", true},
		{"Result", "io::Result<()>", true},
		{"Result<Order, Error>", "Result<Order, Box<Error>>", false},
		{"Cow<str>", "Cow<'_, str>", true},
		{"str", "&'static str", true},
		{"Order", "(Order, u32)", true},
		{"[Order]", "&[Order]", true},
		{"[u8; 4]", "[u8; 4]", true},
		{"std::io::Error", "io::Error", true},
		{"Fn", "impl Fn(&Order) -> bool", true},

		{"Order", "Order | null", true},
		{"Order", "Line | Order | undefined", true},
		{"Promise", "Promise<void>", true},
		{"Promise<Order | null>", "Promise<Order>", true},
		{"Order[]", "Order[]", true},
		{"Order[]", "readonly Order[]", true},
		{"Order", "Order[]", false},
		{"boolean", "(order: Order) => boolean", false},
		{"=>", "(order: Order) => boolean", false},
		{"Order", "\"Order\"", true},
		{"Order", "'Order'", true},
		{"Order", "Optional[Order]", true},
		{"Order", "typing.Union[Order, Line, None]", true},
		{"list[Order]", "list[Order]", true},
		{"list[Order]", "list[\"Order\"]", true},
		{"Callable", "Callable[[Order], bool]", true},
		{"Order", "Annotated[Order, 1]", true},
		{"None", "None", true},
		{"null", "Order | null", true},
		{"None", "Union[Order, None]", true},
		{"null", "Order", false},

		{"int", "ref int", true},
		{"string", "params string[]", false},
		{"string[]", "params string[]", true},
		{"Order", "(int Count, Order Best)", true},
		{"int", "int?", true},
		{"int[,]", "int[,]", true},
		{"void*", "void*", true},
		{"Inner", "Outer<T>.Inner<U>", true},
		{"Größe", "maß.Größe", true},
	} {
		m := TypeMatcher(c.wanted)
		if m == nil {
			if c.want {
				t.Errorf("%s names nothing", c.wanted)
			}
			continue
		}
		if got := m(c.written); got != c.want {
			t.Errorf("%s for %s: %v (%+v, %+v)", c.wanted, c.written, got, parseType(c.wanted), parseType(c.written))
		}
	}
	for _, nothing := range []string{"", " ", "<>", "?"} {
		if TypeMatcher(nothing) != nil {
			t.Errorf("%q names a type", nothing)
		}
	}
}

// FuzzTypeMatcher holds that no text makes the reader of types fail or hang,
// and that a type is what it is.
func FuzzTypeMatcher(f *testing.F) {
	for _, s := range []string{"Task<Order>", "map[string]*Order", "&'a mut dyn Fn(A) -> B + Send", "(a: A) => B | null", "[[[", "((((", "A<B<C<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := TypeMatcher(s)
		if m != nil && !m(s) {
			t.Errorf("%q is not itself: %+v", s, parseType(s))
		}
		if len(parseType(s).name) > len(s)+2 {
			t.Errorf("%q has a longer name", s)
		}
		AttributeNames(s)
	})
}
