pub struct Half {
    name: String,
    count:
}

impl Half {
    pub fn good(&self) -> u8 { 1 }
    pub fn bad(&self, x: -> u8 { let y = ; y }
    fn after(&self) {}

fn top( {
    "unclosed
}
