class Order < Base
  def save(a, b
    x = 
    items.each do |i|
  end
  def kept; done(; end
  attr_reader :name,
end
module Next
  LIMIT = 
  def self.after
