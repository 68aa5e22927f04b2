output "o00" {
  value = 0
}
output "o01" {
  value = 1
}
output "o02" {
  value = 2
}
output "o03" {
  value = 3
}
output "o04" {
  value = 4
}
output "o05" {
  value = 5
}
output "o06" {
  value = 6
}
output "o07" {
  value = 7
}
output "o08" {
  value = 8
}
output "o09" {
  value = 9
}
output "o10" {
  value = 10
}
output "o11" {
  value = 11
}
output "o12" {
  value = 12
}
output "o13" {
  value = 13
}
output "o14" {
  value = 14
}
output "o15" {
  value = 15
}
output "o16" {
  value = 16
}
output "o17" {
  value = 17
}
output "o18" {
  value = 18
}
output "o19" {
  value = 19
}
output "o20" {
  value = 20
}
output "o21" {
  value = 21
}
output "o22" {
  value = 22
}
output "o23" {
  value = 23
}
output "o24" {
  value = 24
}
output "o25" {
  value = 25
}
output "o26" {
  value = 26
}
output "o27" {
  value = 27
}
output "o28" {
  value = 28
}
output "o29" {
  value = 29
}
