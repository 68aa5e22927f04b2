import { describe, expect, it } from 'vitest';
import { pieceOfId } from '#domain/shared/naming/name-match.ts';

describe('the end of an id in a search text', () => {
  it.each([
    ['…1F0C2E', '1f0c2e'],
    ['run …1f0c2e', '1f0c2e'],
    ['01900000-1f0c', '01900000-1f0c'],
  ])('is found in %j', (text, piece) => {
    expect(pieceOfId(text)).toBe(piece);
  });

  it.each(['1f0c2', '0-----', '------', '0-0-0-0-0', 'plan 1f0c2e', 'x1f0c2e'])('is missing in %j', (text) => {
    expect(pieceOfId(text)).toBeNull();
  });
});
