import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../src/api', import.meta.url));

function namesIn(pattern: string, name: RegExp): Set<string> {
  const files = globSync(`${root}/${pattern}`);
  return new Set(
    files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(name)].map(([, found = '']) => found)),
  );
}

it('a notice of every kind that pages use has a style', () => {
  const styled = namesIn('web/assets/styles/**/*.css', /\.notice-([a-z]+)/g);
  const used = namesIn('**/*.ts', /\bnotice-([a-z]+)/g);
  expect(used.size).toBeGreaterThan(2);
  expect([...used].filter((name) => !styled.has(name))).toEqual([]);
});
