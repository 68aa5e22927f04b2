import { describeWeakestRole } from '#domain/shared/access/weakest-role.ts';

/** The labels of the fields of a form, by the path of their value in the operation's body. */
export type Labels = ReadonlyMap<string, string>;

/** Phrases in messages of validation, and what pages say instead. */
const phrases: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^a JSON body is required, but the request has none$/, 'fill in the form'],
  [/^unknown (?:field|query parameter) .*$/s, 'leave this empty: it does not apply here'],
  [/^If-Match: .*$/s, 'this form is out of date: open the page again'],
  [/^the form has no field .*$/s, 'this form has changed since you opened it: open the page again'],
  [/^the field "[^"]*" was sent more than once$/, 'this form is not complete: open the page again'],
  [/^(?:field|query parameter|path parameter) (?:"[^"]*"|\[\S*):? ?/, ''],
  [/^the (?:body|query): ?/, ''],
  [/^the body /, 'the form '],
  [/^is required(?:: .*)?$/s, 'enter a value'],
  // A form leaves an empty field out, so people need not know that null is possible.
  [/^(must be (?:an? \w+|true or false)) or null\b/, '$1'],
  [
    /^must be (?:a string|an? (?:object|array|integer|number|boolean)|true or false), not (?:null|left out)$/,
    'enter a value',
  ],
  [
    /^must be (?:an? \w+|true or false).* \(the value is the one that is deployed: name another one, or omit it\)$/s,
    'the deployed value does not fit any more: enter another one, or empty the field',
  ],
  [
    / \(the value is the one that is deployed: name another one, or omit it\)$/,
    '. This is the deployed value: enter another one, or empty the field',
  ],
  [
    /^is a secret (that another person .* gave the (?:run|deployment)), and is kept only if nothing else changes: give it again, or name it in omit$/s,
    'is a secret $1, and something else changes: enter it again, or choose to leave it out',
  ],
  [/^must be a string$/, 'enter a value'],
  [/^must not be empty$/, 'enter a value'],
  [/^must be an integer(?:, not .*)?$/, 'enter a whole number'],
  [/^must be a number(?:, not .*)?$/, 'enter a number'],
  [/^must be one of .*$/s, 'choose one of the options'],
  [/^(?:must be|expected) (?:"[\w-]+",? (?:or )?)+(?:null|"[\w-]+")$/, 'choose one of the options'],
  [/\bexpected a lowercase UUID other than zero\b/g, 'this does not exist: choose another one'],
  [/^there is no such thing, or you may not read it$/, 'this does not exist, or you may not see it'],
  [/^expected (?=\d|printable |letters)/, 'use '],
  [/^expected exactly one of /, 'choose exactly one of '],
  [/^expected where /, 'enter the address where '],
  [/^expected (?:one of )?/, 'enter '],
  [
    /^the change conflicts with another change made at the same time: .*$/s,
    'another request changed this at the same time: try again',
  ],
  [/\bno (team|environment) [0-9a-f]{8}-[0-9a-f-]{27}(?:, [0-9a-f]{8}-[0-9a-f-]{27})*/g, 'no such $1'],
  [/^what the body names as the (?=\w+ was not found$)/, 'the chosen '],
];

const kinds = 'organization|team|project|environment|instance|template|connection|user|run|webhook|channel|monitor';
const idName = new RegExp(`(?<![\\w".])(${kinds})_id(s?)(?![\\w"])`, 'g');
const pathInText = /(?<![\w"./-])[a-z][a-z0-9]*(?:[._][a-z0-9]+)+(?![\w"(/-])/g;

/**
 * Rewrites a message of the service for pages: fields have their labels, ids and API names are removed, and a rule for a value becomes an
 * instruction. Any other message stays as it is.
 */
export function toPlainWords(message: string, labels: Labels = new Map()): string {
  const said = phrases.reduce((text, [pattern, words]) => text.replace(pattern, words), explainDenial(message));
  return said
    .replace(pathInText, (name) => {
      const label = labels.get(name);
      return label === undefined ? name : `“${label}”`;
    })
    .replace(idName, '$1$2');
}

const denied = /\bpermission denied\b/i;
/** Permissions and actions of teams in a message, each with the role in parentheses if the message names one. */
const tokens = /\b(team\.[a-z.]+[a-z]|settings\.manage|[a-z_]+:[a-z]+)\b(?: \(the (?:platform|team) role \w+\))?/g;

/** Whether a message says that somebody lacks a permission or a role. */
export function isDenial(message: string): boolean {
  return denied.test(message);
}

/** Rewrites a denial, which names permissions and actions, to name roles, because people know those. */
export function explainDenial(message: string): string {
  if (!denied.test(message)) return message;
  const roles = message.replace(tokens, (_all, token: string) => describeWeakestRole(token) ?? token);
  return roles.replace(/\bneeds (.+?) (?:or|and) \1(?: (?:or|and) \1)*/, 'needs $1');
}
