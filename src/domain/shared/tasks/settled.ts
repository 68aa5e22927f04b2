/** Returns the value of a settled promise. @throws the reason of its rejection */
export function settledValue<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}
