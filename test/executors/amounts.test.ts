import { describe, expect, it } from 'vitest';
import { describeBytes } from '#executors/attempt/amounts.ts';

describe('an amount of bytes', () => {
  it.each([
    [0, '0 bytes'],
    [1000, '1000 bytes'],
    [1024, '1 KiB'],
    [1024 * 1024 * 1.5, '1.5 MiB'],
    [2 ** 31, '2 GiB'],
    [2 ** 31 + 1, '2147483649 bytes'],
  ])('of %d is shown as "%s"', (bytes, shown) => {
    expect(describeBytes(bytes)).toBe(shown);
  });
});
