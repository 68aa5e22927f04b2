import { expect, test } from 'vitest';
import { composeChat } from '#domain/messages/http/chat-text.ts';
import { composeBody } from '#domain/messages/mail/mail-body.ts';
import { asForeignText, toSubject } from '#domain/messages/wording.ts';

const wordingOf = (name: string) => {
  const said = asForeignText(`The run of ${name} ended`);
  return { subject: toSubject(said), lines: [said], link: null, reason: said };
};

test.each(['می\u200cخواهم', '👨\u200d👩\u200d👧', 'क\u094d\u200dष'])(
  'the subject and the text of a message show the name %s as it is',
  (name) => {
    const wording = wordingOf(name);
    const { text, html } = composeBody(wording);
    expect(wording.subject).toBe(`The run of ${name} ended`);
    expect(text.split(name)).toHaveLength(4);
    expect(html.split(name)).toHaveLength(5);
    expect(composeChat(wording).split(name)).toHaveLength(4);
  },
);

test.each(['\n', '\u00ad', '\u115f', '\u202e', '\u2800', '\u3164', '\u{e0041}'])(
  'messages have a space in place of the character %j that misleads readers',
  (character) => {
    const wording = wordingOf(`net${character}prod`);
    expect(wording.subject).toBe('The run of net prod ended');
    expect(composeBody({ ...wording, lines: [`net${character}prod`] }).text).toContain('\nnet prod\n');
    expect(JSON.parse(composeChat({ ...wording, lines: [`net${character}prod`] })).text).toContain('\nnet prod\n');
  },
);

test('a long subject is cut between characters, not inside one', () => {
  expect(toSubject(`${'x'.repeat(148)}👍 and more`)).toBe(`${'x'.repeat(148)}…`);
  expect(toSubject('x'.repeat(150))).toBe('x'.repeat(150));
});
