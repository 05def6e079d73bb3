<?php
namespace Shop;
use Shop\Base
class Order extends Base implements {
    private int $total
    public function save(string $name, {
        $x = ;
        $this->
    }
    public function kept() { return done(; }
}
function after() { return new Order(
