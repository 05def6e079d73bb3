#include <vector>
namespace shop::core { namespace {
using std::vector; using Alias = std::vector<int>; using namespace std; namespace fs = std::filesystem;
/// An order.
template <typename T, int N = 3, class... R> class [[nodiscard]] Order final : public Base<T>, private virtual detail::Mixin {
 public:
  explicit Order(int id) : Base<T>(id), id_(id) {}
  Order(const Order&) = delete; ~Order();
  virtual void save(std::string_view s, int&& x = 1) const noexcept override = 0;
  static constexpr int kMax = 3; T id_, *p_; std::function<void(int)> cb_{};
  bool operator==(const Order& o) const { return o.id_ == id_; } operator int() const; T& operator[](int);
  template <class U> auto get(U u) -> decltype(u) { return u; }
  enum class Color : uint8_t { Red, Green }; struct Inner { int v; }; friend class X; typedef int I;
 protected: int guarded; void method();
};
concept C = true;
template<class T> concept Printable = requires(T t) { t.print(); };
}}
template <> void shop::core::Order<int>::save(std::string_view s, int&& x) const { auto l = [&](int a) { return a; }; for (auto& [k, v] : m) {} if (auto it = f(); it) {} try {} catch (const E& e) {} auto o = new Order<int>(1); shop::make<int>(2); o->save("a"); Order o2{1}; std::make_unique<Foo>(1); }
Order::Order(int x) {}
int Order::count = 1;
extern "C" { void c_api(int); }
constexpr auto f2(auto x) { return x; }
