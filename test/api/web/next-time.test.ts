import { expect, it } from 'vitest';
import { renderNextTime } from '#api/web/components/time.ts';

const at = (ms: number) => String(renderNextTime(new Date(Date.now() + ms).toISOString()));

it('the time of the next attempt is shown while it is in the future, and as soon as possible once it has passed', () => {
  expect(at(60_000)).toContain('<time datetime=');
  expect(at(-1)).toBe('As soon as possible');
});
