import { expect, it } from 'vitest';
import { toSentence } from '#api/web/text.ts';

it.each([
  ['permission denied', 'Permission denied.'],
  ['the check failed!', 'The check failed!'],
  ['var.size is used, but not declared', 'var.size is used, but not declared.'],
  ['local_file.index is gone', 'local_file.index is gone.'],
  ['main.tf cannot be read', 'main.tf cannot be read.'],
  ['no-op changes nothing', 'No-op changes nothing.'],
])('%j becomes a sentence, in which names keep their case: %j', (message, sentence) => {
  expect(toSentence(message)).toBe(sentence);
});
