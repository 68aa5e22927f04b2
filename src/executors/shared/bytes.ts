const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats bytes in the largest unit that needs at most one decimal: 2147483648 → `2 GiB`. */
export function formatBytes(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit + 1 < units.length && Number.isInteger((amount / 1024) * 10)) {
    amount /= 1024;
    unit++;
  }
  return `${amount} ${units[unit]}`;
}
