output "text" {
  value = file("${path.module}/data/text.txt")
}
output "set" {
  value = fileset(path.module, "data/*.txt")
}
output "hash" {
  value = filesha256("data/text.txt")
}
output "exists" {
  value = fileexists("data/none.txt")
}
