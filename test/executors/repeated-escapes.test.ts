import { afterAll, describe, expect, it } from 'vitest';
import { RedactingStream, Redactor } from '#domain/shared/redaction/redactor.ts';
import { redacted } from '#domain/shared/values/comparison/marks.ts';
import { useTool } from './opentofu/opentofu-support.ts';
import { makeWorkRoot, requireTools, type TestRequest } from './support.ts';

/** Secrets that JSON, HCL or Go escaped several times. */

function redactorOf(secret: string): Redactor {
  const redactor = new Redactor();
  redactor.learn(secret);
  return redactor;
}

function redactInPieces(redactor: Redactor, text: Buffer, cuts: readonly number[]): string {
  const stream = new RedactingStream(redactor);
  const ends = [...cuts, text.length];
  const pieces = ends.map((end, index) => stream.push(text.subarray(ends[index - 1] ?? 0, end)));
  return Buffer.concat([...pieces, stream.end()]).toString();
}

const ways: Readonly<Record<string, (text: string) => string>> = {
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON of Go': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  'JSON in ASCII': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
  HCL: (text) => JSON.stringify(text).slice(1, -1).replaceAll('${', '$${').replaceAll('%{', '%%{'),
};
const secrets = [
  'pass&word-123',
  'new"<line>\nand\ttab',
  'C:\\new\\u0026"dir"',
  '${a}%{b}\\\\"c',
  'é😀"ü&',
  'trailing"slash\\\\',
];

function escapedTimes(text: string, way: (text: string) => string, times: number): string {
  return times === 0 ? text : escapedTimes(way(text), way, times - 1);
}

describe('a secret that is escaped several times', () => {
  it.each(Object.keys(ways))('is found if it is escaped repeatedly as %s, wherever the output is cut', (name) => {
    const way = ways[name] ?? expect.fail(name);
    for (const secret of secrets)
      for (const times of [1, 2, 3, 4, 5]) {
        const text = Buffer.from(`a <${escapedTimes(`"${secret}"`, way, times)}> b`);
        const whole = redactInPieces(redactorOf(secret), text, []);
        expect(whole, `${secret} ${times} times`).toMatch(/^a <\\*"?\[redacted\](?:\\|\\u005c)*"?> b$/);
        if (times !== 3) continue;
        for (let cut = 0; cut <= text.length; cut++)
          expect(redactInPieces(redactorOf(secret), text, [cut]), `${cut}`).toBe(whole);
        const everywhere = Array.from({ length: text.length }, (_, index) => index);
        expect(redactInPieces(redactorOf(secret), text, everywhere)).toBe(whole);
      }
  });

  it('is found if kinds of escapes are mixed, and if the tool quotes what was encoded twice', () => {
    const go = ways['JSON of Go'] ?? expect.fail('none');
    const text = `o = "${ways['HCL']?.(`["${go(JSON.stringify({ p: 'X' })).replace('X', go(go('pass&word-123')))}"]`)}"`;
    expect(redactorOf('pass&word-123').redactText(text)).toBe(text.replace(/pass\S+123/, redacted));
    const reported = 'o = "[\\"{\\\\\\"p\\\\\\":\\\\\\"pass\\\\\\\\u0026word-123\\\\\\"}\\"]"';
    expect(redactorOf('pass&word-123').redactText(reported)).not.toContain('word-123');
  });

  it('is found if a colour code interrupts it', () => {
    const text = 'a pass\\\\\\\\u00\x1b[31m26word\x1b[0m-123 b';
    for (let cut = 0; cut <= text.length; cut++)
      expect(redactInPieces(redactorOf('pass&word-123'), Buffer.from(text), [cut])).toBe(`a ${redacted} b`);
  });

  it('is removed without changing other text', () => {
    const text = Buffer.from('C:\\new\\\\dir \\u00zz \\ud83d \\" $${x} %% pass\\u0026wor \\x4 pass&word-12\\');
    for (let cut = 0; cut <= text.length; cut++)
      expect(redactInPieces(redactorOf('pass&word-123'), text, [cut])).toBe(text.toString());
  });

  it.each([
    ['backslashes', '\\'],
    ['halves of escapes', '\\u00'],
    ['beginnings of the secret', 'pass\\\\\\\\u0026'],
    ['dollars', '$'],
    ['unseen escapes', '\\r'],
    ['first halves of characters', '\\ud83d'],
  ])('is looked for in 10 MB of %s with little delayed output, in time proportional to their length', (_, unit) => {
    const redactor = redactorOf('$ass"word\\\r&');
    redactor.learn('pass&word-123');
    const piece = Buffer.from(unit.repeat(Math.floor(65_536 / unit.length)));
    const stream = new RedactingStream(redactor);
    let shown = stream.push(Buffer.from(' $')).length;
    let pushed = 2;
    const began = performance.now();
    for (; pushed < 10 * 1024 * 1024; pushed += piece.length) shown += stream.push(piece).length;
    expect(pushed - shown).toBeLessThan(5 * 1024 * 1024);
    expect(stream.work / pushed).toBeLessThan(5);
    shown += stream.end().length;
    expect(shown).toBe(pushed);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

const work = makeWorkRoot();
afterAll(work.remove);

describe.each(await requireTools())('$name $version', (tool) => {
  it('quotes a secret that was encoded twice, and log, plan and state metadata do not contain it', async () => {
    const files = {
      'main.tf': `
variable "s" { type = string }
locals { nested = jsonencode([jsonencode({ p = var.s })]) }
resource "terraform_data" "twice" {
  input = local.nested
  provisioner "local-exec" {
    command = "true \${local.nested}"
  }
}
output "o" { value = local.nested }
`,
    };
    const changes: Partial<TestRequest> = {
      executor: { kind: 'opentofu', files },
      variables: { s: 'pass&word-123' },
      sensitiveVariables: ['s'],
    };
    const { plan, apply } = useTool(work.path, tool);
    const planned = await plan(changes);
    const { sink, result } = await apply(planned.plan, changes);
    expect(result.outcome, JSON.stringify(result)).toBe('succeeded');
    expect(sink.text()).toContain(redacted);
    const shown = planned.sink.text() + JSON.stringify(planned.plan.changes) + sink.text();
    expect(shown).not.toContain('word-123');
    expect(result.outputs?.['o']?.sensitive).toBe(true);
    expect(sink.states.at(-1)?.meta.secretOutputs).toEqual(['o']);
  });
});
