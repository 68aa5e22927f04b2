import { describe, expect, it } from 'vitest';
import { DraftUnreadable, parseDraft } from '#domain/assemblies/spec/text/parse.ts';

function refusalOf(source: string): { line: number; column: number; message: string } {
  try {
    parseDraft(source);
  } catch (error) {
    if (error instanceof DraftUnreadable) return { line: error.line, column: error.column, message: error.message };
    throw error;
  }
  throw new Error('the text was read');
}

describe('a draft', () => {
  it('is the same in YAML with comments as in JSON', () => {
    const yaml = '# the network first\nnodes:\n  network: {template: vpc}   # small\nconcurrency: 3\n';
    const json = '{"nodes": {"network": {"template": "vpc"}}, "concurrency": 3}';
    expect(parseDraft(yaml).value).toEqual(parseDraft(json).value);
  });

  it('returns the line of a member, or of the nearest one around it', () => {
    const yaml = 'nodes:\n  a:\n    template: x\n    depends_on:\n      - b\n';
    const json = '{\n "nodes": {\n  "a": {\n   "template": "x",\n   "depends_on": [\n"b"]}}}';
    for (const [source, lines] of [
      [yaml, [2, 3, 5, 1]],
      [json, [3, 4, 6, 2]],
    ] as const) {
      const { lineOf } = parseDraft(source);
      const paths = ['/nodes/a', '/nodes/a/template', '/nodes/a/depends_on/0', '/nodes/other/template'];
      expect(paths.map(lineOf)).toEqual(lines);
    }
  });

  it('reads words such as "no" and dates as strings, as YAML 1.2 does', () => {
    expect(parseDraft('a: no\nb: 2030-01-01\nc: 1.10').value).toEqual({ a: 'no', b: '2030-01-01', c: 1.1 });
  });

  it('reads numbers exactly if JavaScript can represent them', () => {
    const value = { a: 9007199254740991, b: 1e20, c: -0.5 };
    for (const source of ['a: 9007199254740991\nb: 1e20\nc: -0.5', '{"a": 9007199254740991, "b": 1e20, "c": -0.5}'])
      expect(parseDraft(source).value).toEqual(value);
  });

  it('reads decimals in every notation of YAML', () => {
    expect(parseDraft('a: +1.5\nb: .5\nc: -2.\nd: 1.10e+2').value).toEqual({ a: 1.5, b: 0.5, c: -2, d: 110 });
  });

  it('copies what an anchor names to each alias', () => {
    expect(parseDraft('a: &x {b: 1}\nc: *x').value).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });

  it('accepts "constructor" and "toString" as names of members', () => {
    expect(Object.keys(Object(parseDraft('constructor: 1\ntoString: 2').value))).toEqual(['constructor', 'toString']);
  });
});

describe('a draft that cannot be read', () => {
  it.each([
    ['a:\n  b: 1\n  b: 2', 3, 'the name "b" stands twice'],
    ['{"a": 1,\n "a": 2}', 2, 'the name "a" stands twice'],
    ['a: b: c', 1, 'Nested mappings'],
    ['x: 1\na: !secret b', 2, 'tags such as "!secret" have no meaning here'],
    ['a: 1\n---\nb: 2', 2, 'several documents'],
    ['a: 1\n__proto__: {x: 1}', 2, '"__proto__" is a name that the service reserves'],
    ['{"nodes": {"__proto__": {}}}', 1, '"__proto__" is a name that the service reserves'],
    ['x: 1\ny: 2\na: .inf', 3, 'a number that JSON does not have'],
    ['{"a":\n1e999}', 2, 'a number that JSON does not have'],
    ['a: 1\nb: [12345678901234567890]', 2, 'would lose digits'],
    ['a: 0xFFFFFFFFFFFFFFFF', 1, 'would lose digits'],
    ['{"a": 1,\n"b": [12345678901234567890]}', 2, 'would lose digits'],
    ['a: 1\nb: 0.12345678901234567890', 2, 'more than 15 digits would lose some'],
    ['a: +9007199254740993.', 1, 'more than 15 digits would lose some'],
    ['a: -.12345678901234567890', 1, 'more than 15 digits would lose some'],
    ['{"a": 1,\n"b": 1.2345678901234567890}', 2, 'more than 15 digits would lose some'],
    ['a: &x [*x]', 1, 'the alias "*x" stands in what it repeats'],
    ['a: &x 1\nb: &y {c: *x, d: [*y]}', 2, 'the alias "*y" stands in what it repeats'],
    ['x: 1\na: *nothing', 2, 'no anchor "&nothing" before this alias'],
    ['a: *later\nb: &later 1', 1, 'no anchor "&later" before this alias'],
    ['? [1]\n: 2', 1, 'names must be texts'],
    ['"a\\0": 1', 1, 'NUL'],
    [`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 1, 'more than 64 levels'],
    [`x: 1\na: ${'['.repeat(65)}${']'.repeat(65)}`, 2, 'more than 64 levels'],
    [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 1, 'more than 64 levels'],
    [`a: ${'{b: '.repeat(100_000)}`, 1, 'more than 64 levels'],
    [`a:\n  ${'- '.repeat(100_000)}b`, 2, 'more than 64 levels'],
    [Array.from({ length: 150 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), 66, 'more than 64 levels'],
    [
      `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [[[[*a${n}]]]]`).join('\n')}`,
      1,
      'more than 64 levels',
    ],
    [`a: "${'x'.repeat(1024 * 1024)}"`, 1, 'larger than 1 MiB'],
  ])('%.30s is refused with its line', (source, line, message) => {
    expect(refusalOf(source)).toEqual({ line, column: expect.any(Number), message: expect.stringContaining(message) });
  });

  it.each([
    `a: ${'['.repeat(63)}1${']'.repeat(63)}`,
    `{"a": ${'['.repeat(63)}1${']'.repeat(63)}}`,
    Array.from({ length: 64 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
  ])('a draft that is nested 64 levels deep can be read', (source) => {
    expect(parseDraft(source).value).toHaveProperty('a');
  });

  it('is refused if its aliases would expand to too much', () => {
    const levels = 'abcdefgh'.split('').map((name, index, names) => {
      const inner = index === 0 ? 'x' : `*${names[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(inner).join(', ')}]`;
    });
    expect(refusalOf(levels.join('\n')).message).toMatch(/aliases repeat too much/);
    const many = `a: &a [${'x,'.repeat(1_000)}x]\nb: [${'*a,'.repeat(250)}x]`;
    expect(refusalOf(many).message).toMatch(/aliases repeat too much/);
  });

  it.each([
    [
      'with 50,000 anchors and aliases',
      `a: [${Array.from({ length: 50_000 }, (_, n) => `&a${n} x, *a${n}`).join(', ')}]`,
    ],
    ['with 300,000 aliases of one anchor', `a: &a x\nb: [${'*a,'.repeat(300_000)}x]`],
  ])('%s is refused before it is parsed', (_, source) => {
    expect(refusalOf(source)).toEqual({
      line: expect.any(Number),
      column: expect.any(Number),
      message: 'more than 1000 anchors and aliases: write the values out',
    });
  });

  it('is refused at the first anchor beyond the maximum', () => {
    const anchors = Array.from({ length: 1_002 }, (_, n) => `a${n}: &a${n} x`);
    expect(refusalOf(['x: "y"', ...anchors].join('\n'))).toMatchObject({ line: 1_002, column: 8 });
  });

  it('is refused before it is parsed if it has more values than the maximum', () => {
    expect(refusalOf(`a: [${'x,'.repeat(500_000)}x]`).message).toBe('the spec has more than 100000 values');
  });

  it('keeps asterisks and ampersands of texts, which are neither aliases nor anchors there', () => {
    const list = Array.from({ length: 1_500 }, () => '\'*a\', "&b", c*d').join(', ');
    expect(parseDraft(`a: [${list}]\nb: |\n  *x\n  &y\n# *z`).value).toMatchObject({ b: '*x\n&y\n' });
  });
});
