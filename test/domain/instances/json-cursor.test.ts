import { describe, expect, test } from 'vitest';
import { JsonCursor, JsonError } from '#domain/instances/state-file/json-cursor.ts';
import { parseOutputs } from '#domain/instances/state-file/outputs.ts';
import { readStateFile, readStateFileInTurns } from '#domain/instances/state-file/state-file.ts';
import { runAtOnce } from '#domain/instances/state-file/turns.ts';

const cursor = (text: string) => new JsonCursor(Buffer.from(text));

function skips(text: string): boolean {
  try {
    const reading = cursor(text);
    runAtOnce(reading.skipInTurns());
    reading.end();
    return true;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const valid = [
  ' {"a" : [1, -0.5e+3, {}, [], null, true, false, "x\\"\\u00e9\\n"], "b":{"c":[[{"d":0}]]}} ',
  '"text"',
  '0',
  '-12.5E-7',
  '[]',
  '{}',
  '[[],[[]],{}]',
  '{"":""}',
  '123456789012345678901234567890',
];

describe('skipping a value', () => {
  test.each(valid)('accepts %s as JSON.parse does', (text) => {
    expect(parses(text)).toBe(true);
    expect(skips(text)).toBe(true);
  });

  test('agrees with JSON.parse about every text that differs from a valid one in one character', () => {
    const letters = [
      '{',
      '}',
      '[',
      ']',
      '"',
      ',',
      ':',
      '\\',
      '0',
      '1',
      '.',
      'e',
      '-',
      '+',
      'n',
      ' ',
      '\n',
      'u',
      '\u0001',
    ];
    const disagreed = new Set<string>();
    for (const text of valid) {
      for (let at = 0; at <= text.length; at += 1) {
        const rest = text.slice(at + 1);
        const changed = [
          text.slice(0, at) + rest,
          ...letters.flatMap((each) => [text.slice(0, at) + each + rest, text.slice(0, at) + each + text.slice(at)]),
        ];
        for (const each of changed) if (parses(each) !== skips(each)) disagreed.add(each);
      }
    }
    expect([...disagreed]).toEqual([]);
  });

  test('refuses more levels than OpenTofu reads, and does not recurse for fewer', () => {
    expect(skips('['.repeat(10_000) + ']'.repeat(10_000))).toBe(true);
    expect(skips('['.repeat(10_002) + ']'.repeat(10_002))).toBe(false);
  });
});

describe('reading members', () => {
  test('returns keys and strings decoded, and literals as they are written', () => {
    const reading = cursor('{"caf\\u00e9": 9007199254740993, "b": [" \\ud83d\\ude00", "c"]}');
    const seen: unknown[] = [];
    for (const key of reading.keys()) {
      if (key === 'b') for (const _ of reading.items()) seen.push(reading.text());
      else seen.push(key, reading.literal());
    }
    reading.end();
    expect(seen).toEqual(['café', '9007199254740993', ' 😀', 'c']);
  });

  test('never repeats the content in an error', () => {
    expect(() => runAtOnce(cursor('{"password": hunter2}').skipInTurns())).toThrow(/^expected a value at byte 13$/);
  });
});

describe('a large state that is read in slices', () => {
  test.each([
    ['a member that the service does not know', { unknown: Array(200_000).fill(1) }],
    ['a list where a number belongs', { serial: Array(200_000).fill(1) }],
    ['a list where the type of a resource belongs', { resources: [{ type: Array(200_000).fill(1) }] }],
    ['resources that are no list', { resources: { all: Array(200_000).fill(1) } }],
    ['the outputs', { outputs: { list: { value: Array(200_000).fill(1) } } }],
    ['the attributes of a resource', { resources: [{ instances: [{ attributes: Array(200_000).fill(1) }] }] }],
  ])('lets other work run while it passes %s', async (_, members) => {
    const content = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'a', ...members }));
    let others = 0;
    const other = setInterval(() => {
      others += 1;
    }, 1);
    try {
      await readStateFileInTurns(content);
      await parseOutputs(content, content.length);
    } finally {
      clearInterval(other);
    }
    expect(others).toBeGreaterThan(2);
  });
});

describe('a state whose member names have other capitals, which tools accept', () => {
  test.each(['{"Resources":[]}', '{"outputS":{}}', '{"resources":[{"Instances":[]}]}', '{"resources":[{"TYPE":"a"}]}'])(
    'has a problem: %s',
    (text) => {
      expect(readStateFile(Buffer.from(text)).problem).toMatch(/expected the name in lowercase$/);
    },
  );
});
