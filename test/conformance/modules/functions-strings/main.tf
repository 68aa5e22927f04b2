resource "terraform_data" "it" {
  input = {
    joined = join("-", ["a", "b"])
    split = split(",", "a,b,c")
    replaced = replace("aXb", "X", "-")
    regex = regex("[a-z]+", "123abc")
    title = title("hello world")
    trim = trimspace("  x  ")
    format = format("%05.2f %s %q", 3.14159, "s", "q")
  }
}
output "it" {
  value = terraform_data.it.output
}
