# one
// two
/* three
 { unclosed */
output "it" { # four
  value = "# no comment // none"
}
