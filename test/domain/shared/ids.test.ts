import { validate, version } from 'uuid';
import { describe, expect, it, vi } from 'vitest';
import { firstIdAt, isId, newId } from '#domain/shared/ids.ts';

describe('a new id', () => {
  it('is a UUID of version 7 that contains the present time', () => {
    const before = new Date();
    const id = newId();
    expect([validate(id), version(id), isId(id)]).toEqual([true, 7, true]);
    expect(id >= firstIdAt(before)).toBe(true);
    expect(id < firstIdAt(new Date(Date.now() + 2))).toBe(true);
  });

  it('sorts after every earlier one, also within a millisecond and while the clock goes back', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const ids = Array.from({ length: 10_000 }, (_, index) => {
        if (index % 1000 === 500) vi.setSystemTime(Date.now() - 1);
        if (index % 1000 === 700) vi.setSystemTime(Date.now() + 2);
        return newId();
      });
      expect(ids).toEqual([...ids].sort());
      expect(new Set(ids).size).toBe(ids.length);
    } finally {
      vi.useRealTimers();
    }
  });
});
