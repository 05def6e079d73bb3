namespace shop {
class Order : public Base, {
 public:
  void save(int a, ;
  int kept_;
  void after() { done(; }
};
struct Next { int kept; }
int half(
