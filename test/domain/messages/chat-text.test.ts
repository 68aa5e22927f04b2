import { expect, test } from 'vitest';
import { composeChat } from '#domain/messages/http/chat-text.ts';

const wordOf = (subject: string) =>
  JSON.parse(composeChat({ subject, lines: [], link: null, reason: 'You chose this.' })).text.split('\n')[0] as string;

test.each([
  ['<!channel>', '<!channel>'],
  ['<https://evil.example|Open it>', '<https'],
  ['@all', '@all'],
  ['@channel', '@channel'],
  ['[Open it](https://evil.example)', ']('],
])('a name such as %s is neither a mention nor a link in a chat', (name, marked) => {
  const text = wordOf(`The run of ${name} ended`);
  expect(text).not.toContain(marked);
  expect(text.replaceAll('\u200b', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>')).toContain(name);
});
