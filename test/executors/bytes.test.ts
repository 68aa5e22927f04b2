import { describe, expect, it } from 'vitest';
import { formatBytes } from '#executors/shared/bytes.ts';

describe('formatBytes', () => {
  it.each([
    [0, '0 bytes'],
    [1000, '1000 bytes'],
    [1024, '1 KiB'],
    [1024 * 1024 * 1.5, '1.5 MiB'],
    [2 ** 31, '2 GiB'],
    [2 ** 31 + 1, '2147483649 bytes'],
  ])('formats %d as "%s"', (bytes, shown) => {
    expect(formatBytes(bytes)).toBe(shown);
  });
});
