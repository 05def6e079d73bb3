/// A node.
struct YG_EXPORT Node { public: int x; Node() : x(1) {} void go(int a); virtual bool is() const { return true; } };
class EXPORT Foo : public Bar, Baz { int y; public: void m(); };
SHOP_BEGIN_DECLS
SHOP_API int sell(const char *name);
enum plain { ONE,
  TWO
};
SHOP_END_DECLS
