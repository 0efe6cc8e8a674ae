"""How answers look to people, one module a kind of answer: values and a `Screen` in, text out."""
