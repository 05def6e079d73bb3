package shop;
import java.util.
/** Sells. */
public class Order extends Base implements {
  private int total
  public void save(String name, {
    int x = ;
    if (x.
  }
  void after() { done(); }
  @Override public
}
class Next { int kept; }
