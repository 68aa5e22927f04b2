import { expect, it } from 'vitest';
import { describeRules } from '#api/web/forms/schema/view/hints.ts';

const pattern = '^[a-z]+$';

it("a hint shows the author's message in place of a pattern, and the pattern if there is no message", () => {
  const words = { pattern: 'Use lower-case <letters>.', minLength: 'Too short.' };
  const shown = describeRules({ type: 'string', minLength: 2, pattern, 'x-error-messages': words }).map(String);
  expect(shown).toEqual(['At least 2 characters', '<span class="foreign">Use lower-case &lt;letters&gt;</span>']);
  expect(describeRules({ pattern, 'x-error-messages': { minLength: 'Too short.' } }).map(String)).toEqual([
    `Pattern <code class="foreign">${pattern}</code>`,
  ]);
});
