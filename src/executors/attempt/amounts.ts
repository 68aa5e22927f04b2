const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes as people read them, in the largest unit that leaves no fraction of more than one digit: 2147483648 → `2 GiB`. */
export function describeBytes(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit + 1 < units.length && Number.isInteger((amount / 1024) * 10)) {
    amount /= 1024;
    unit++;
  }
  return `${amount} ${units[unit]}`;
}
