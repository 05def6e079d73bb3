#!/usr/bin/env ruby
require "json"
require_relative './base'
# An order.
module Shop
  class Core::Order < ActiveRecord::Base
    include Comparable, Enumerable
    extend Forwardable
    MAX, MIN = 10, 1
    LIMIT = 3
    attr_reader :name, :total
    attr_accessor :x
    @@count = 0
    has_many :lines, dependent: :destroy
    # Saves.
    def save!(a, b = 1, *rest, c:, d: 2, **opts, &block)
      x, (y, *z) = 1, 2
      @items ||= []
      items.each { |i, (j, k)| puts "#{i} #{foo(j)}" }
      rescue Foo => e
      self.class.build(1)
      obj&.go; bar 1; Baz.new(2); yield x
      -> (q, r = 1) { q }
      for n in list do end
      case h
      in {name: String => nm, age:} then 1
      in [first, *]
        2
      end
    end
    def self.build(x) = new(x)
    class << self
      def inside; end
    end
    private
    def hidden; end
    private def a; end
    private_class_method :build
    protected
    alias_method :old, :new1
    alias new_name old_name
    def ==(o) = true
    def []=(i, v); end
    define_method(:dyn) { |z| z }
    Point = Struct.new(:x, :y) do
      def dist; end
    end
  end
end
$global = <<~TEXT
  hello #{name}
TEXT
def top; end
