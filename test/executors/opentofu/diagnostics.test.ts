import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Diagnostic, findDiagnosticsProblem, maxDiagnostics } from '#domain/runs/diagnostics/model.ts';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import { DiagnosticList } from '#executors/attempt/diagnostic-list.ts';
import { ToolDiagnostics } from '#executors/opentofu/diagnostics/diagnostics.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools, run } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const files = (main: string): OpenTofuExecutor => ({ kind: 'opentofu', files: { 'main.tf': main } });

describe.each(tools)('the diagnostics of $name $version', ({ name, version }) => {
  const { request, plan, apply } = useTool(work.path, { name, version });
  const planOf = async (executor: OpenTofuExecutor, changes = {}) => {
    const { result, sink } = await run(request({ phase: 'plan', executor, variables: {}, ...changes }));
    return { ...result, log: sink.text(), first: result.diagnostics?.[0] };
  };

  it('name the file, the line and the source of a syntax error that init meets', async () => {
    const broken = await planOf({
      kind: 'opentofu',
      directory: 'live',
      files: { 'live/main.tf': 'locals {\n  url = "https://$' + '{var.site"\n}\n' },
    });
    expect(broken).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(broken.first).toMatchObject({ severity: 'error', file: 'live/main.tf', line: 2 });
    expect(broken.first?.snippet).toContain('url = "https://');
    expect(broken.first?.message).not.toContain('encountered problems');
    expect(broken.message).toContain(broken.first?.message);
  });

  it('name the line on which a comment begins inside of an expression, and omit the errors that follow from it', async () => {
    const outputs = (prefix: string) =>
      Array.from({ length: 60 }, (_, index) => `output "${prefix}${index}" { value = "${index}" }\n`).join('');
    const provisioned = (command: string) =>
      `${outputs('a')}resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = ${command}\n  }\n}\n${outputs('b')}`;
    const texts = ['"printf %s ${#PW}"', '<<-EOT\n      printf %s ${#PW}\n      rm secret\n    EOT'];
    for (const [index, text] of texts.entries()) {
      const broken = await planOf(files(provisioned(text)));
      expect(broken.first, broken.log).toMatchObject({
        message: 'A comment begins inside of "${"',
        detail: expect.stringContaining('write $${ instead of ${'),
        file: 'main.tf',
        line: 63 + index,
        snippet: expect.stringContaining('printf %s ${#PW}'),
      });
      expect(broken.message).toContain('A comment begins inside of');
    }
    const meant = 'locals {\n  text = "${ # why\n  1 }"\n  other = [\n}\n';
    expect((await planOf(files(meant))).first?.message).not.toContain('A comment');
  });

  it("contain all errors of a plan with their details, without the tool's line breaks", async () => {
    const { reason, diagnostics, first } = await planOf(
      files(`locals { x = { a = 1 } }
resource "terraform_data" "a" {
  input = local.x.b
  foo   = 1
}`),
    );
    expect(reason).toBe('plan_failed');
    expect(first).toEqual({
      severity: 'error',
      message: 'Unsupported attribute',
      detail: 'This object does not have an attribute named "b".',
      file: 'main.tf',
      line: 3,
      snippet: 'input = local.x.b',
    });
    expect(diagnostics?.[1]).toMatchObject({ message: 'Unsupported argument', line: 4 });
  });

  it('name the resource of a failed apply first, whatever its program prints, and the missing program', async () => {
    const failing = files(`resource "terraform_data" "a" {
  provisioner "local-exec" { command = "echo; echo 'Error: forged'; echo; frobnicate" }
}`);
    const planned = await plan({ executor: failing, variables: {} });
    const { result } = await apply(planned.plan, { executor: failing, variables: {} });
    expect(result.diagnostics?.[0]).toMatchObject({
      message: 'local-exec provisioner error',
      address: 'terraform_data.a',
      file: 'main.tf',
      line: 2,
      program: 'frobnicate',
    });
  });

  it('contain the warnings of a plan that succeeds', async () => {
    const { outcome, diagnostics } = await planOf(
      files(`variable "n" { default = 3 }
output "n" { value = var.n }
check "size" {
  assert {
    condition     = var.n == 4
    error_message = "n is not four"
  }
}`),
    );
    expect(outcome).toBe('succeeded');
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        message: 'Check block assertion failed',
        detail: 'n is not four',
        file: 'main.tf',
        line: 5,
      },
    ]);
  });

  it('contain no secret, and neither path nor content of the variables file', async () => {
    const secret = 'a-secret-of-seven-words';
    const { diagnostics } = await planOf(
      files(
        `variable "token" { type = string }
variable "size" { type = number }
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = var.token == "other"
      error_message = "the token is $` + '{var.token}"\n    }\n  }\n}',
      ),
      { variables: { token: secret, size: 'three' }, sensitiveVariables: ['token'] },
    );
    expect(diagnostics?.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics)).not.toContain(secret);
    expect(JSON.stringify(diagnostics)).not.toContain('tfvars');
  });
});

const streaming = tools.find(({ name, version }) => name === 'opentofu' && /^1\.(1[2-9]|[2-9]\d)/.test(version));
it.skipIf(!streaming)("the diagnostics that are read from the output equal those of the tool's JSON", () => {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-diagnostics-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(
    join(directory, 'main.tf'),
    `variable "n" { default = 3 }
resource "terraform_data" "a" { input = local.absent }
resource "terraform_data" "b" {
  input = var.n.x
  foo = upper(var.n,
   3)
}
output "o" { value = nope.there }
`,
  );
  const tool = streaming?.path ?? '';
  const call = (...given: string[]) => {
    try {
      return execFileSync(tool, given, { cwd: directory, stdio: 'pipe' });
    } catch (error) {
      return (error as { stderr: Buffer }).stderr;
    }
  };
  call('init', '-no-color');
  const stderr = call('plan', '-no-color', '-input=false', '-json-into=stream.json');
  const list = new DiagnosticList(new Redactor());
  const reader = new ToolDiagnostics(list, '');
  reader.take('stderr', stderr);
  reader.end();
  const lines = readFileSync(join(directory, 'stream.json'), 'utf8').trim().split('\n');
  const events = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'diagnostic');
  const stated = events.map(({ diagnostic: { summary, detail, range } }) => ({
    message: summary,
    detail,
    file: range.filename,
    line: range.start.line,
  }));
  expect(stated.length).toBeGreaterThan(2);
  expect(list.list()).toMatchObject(stated);
});

describe('a list of diagnostics', () => {
  const read = (text: string, redactor = new Redactor()): Diagnostic[] => {
    const list = new DiagnosticList(redactor);
    const reader = new ToolDiagnostics(list, '');
    for (let at = 0; at < text.length; at += 7) reader.take('stderr', Buffer.from(text.slice(at, at + 7)));
    reader.end();
    return list.list();
  };

  it('is limited in number and length, and storable, for hostile output', () => {
    const many = Array.from({ length: 500 }, (_, n) => `\nWarning: number ${n}\n`).join('');
    const long = `\nError: ${'x\u0000\u001b[31m'.repeat(20_000)}\n\n  on ${'../'.repeat(9)}etc/passwd line 1:\n   1: y\n\n${'z '.repeat(99_999)}\n`;
    const diagnostics = read(many + long);
    expect(diagnostics).toHaveLength(maxDiagnostics);
    expect(diagnostics.at(-1)).toMatchObject({ severity: 'error' });
    expect(diagnostics.at(-1)).not.toHaveProperty('file');
    expect(findDiagnosticsProblem(diagnostics)).toBeNull();
    expect(JSON.stringify(diagnostics)).not.toContain('\\u00');
  });

  it('redacts secrets that become known later, even if a line was wrapped inside of one', () => {
    const redactor = new Redactor();
    redactor.learn('two words of a secret');
    expect(read('\nError: no\n\nIt is two words\nof a secret.\n', redactor)[0]?.detail).toBe('It is [redacted].');
  });
});
