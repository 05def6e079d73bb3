<?php
declare(strict_types=1);
namespace App\Models;
use Illuminate\Database\Eloquent\Model;
use App\Contracts\{Saver, Loader as L};
use function App\helper;
const LIMIT = 3;
define('OLD', 1);
/** An order. */
#[Entity(repo: "x")]
abstract class Order extends Model implements Saver, \Countable {
    use SoftDeletes, HasName { a as b; }
    public const int MAX = 10, MIN = 2;
    protected ?string $name = null, $other;
    private static array $cache = [];
    public function __construct(private readonly int $id, string ...$rest) { parent::__construct(); }
    /** Saves. */
    #[Pure]
    final public static function save(?array &$data, int|string $x = 1): ?self { $y = 1; foreach ($data as $k => $v) {} try {} catch (E | F $e) {} [$a, 'k' => $b] = foo($y); $f = fn($z) => $z; $g = function ($w) use ($y) { return $w; }; $this->go(); static::make(); new Foo(1); new class(1) extends Bar { public function inner() {} }; helper($x)->other?->last(); echo "a $y {$this->name} \n"; return $f(1); }
    abstract protected function nothing(): void;
}
interface Named extends A, B { const K = 1; public function name(): string; }
trait HasName { public string $n; public function hello() {} }
enum Suit: string implements HasLabel { case Hearts = 'H'; const D = self::Hearts; public function label(): string { return 'x'; } }
function top(int $a) { static $count = 0; global $z; return <<<EOT
text $a
EOT; }
?>
<html><?= $x ?></html>
