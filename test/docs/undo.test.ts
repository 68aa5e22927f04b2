import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptStates, problemCodes, verdictWords } from '#domain/undo/model.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { publish } from '#test/support/templates.ts';
import { blocksOf, makePlace, runBlocks } from './examples.ts';
import { tableUnder } from './markdown.ts';

const machines = {
  variables: { type: 'object', properties: { cidr: { type: 'string' }, cpu: { type: 'string' } } },
  executor: {
    kind: 'opentofu',
    files: {
      'main.tf': `
variable "cidr" { type = string }
variable "cpu" { type = string }
resource "terraform_data" "network" { input = var.cidr }
resource "terraform_data" "machine" { input = var.cpu }
`,
    },
  },
};

const withoutDetect = {
  variables: machines.variables,
  executor: { kind: 'command', apply: [{ name: 'work', run: ['true'] }] },
};

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

describe('the commands of docs/undo.md', () => {
  it('undo the second of three applies and keep the third', { timeout: 180_000 }, async () => {
    const { TEAM, ...place } = await makePlace(system);
    const TEMPLATE = await publish(system.administrator, 'machines', machines, TEAM);
    const blocks = blocksOf(system, 'docs/undo.md', 'undo');
    const outputs = await runBlocks(blocks, { ...place, TEMPLATE }, 170_000);
    const [, checked = '', planned = '', promoted = ''] = outputs;
    expect(JSON.parse(checked)).toMatchObject({
      state: 'ready',
      verdicts: [{ path: '/variables/cpu', verdict: 'clean' }],
    });
    expect(JSON.parse(planned)).toMatchObject({ candidate_checks: [{ state: 'passed', collateral: [] }] });
    expect(JSON.parse(promoted)).toMatchObject({
      status: 'succeeded',
      variables: { cidr: '10.9.0.0/16', cpu: '1' },
      undoes: JSON.parse(checked).run_id,
    });
  });

  it('stop with the problem when the template cannot be scanned', { timeout: 180_000 }, async () => {
    const { TEAM, ...place } = await makePlace(system);
    const TEMPLATE = await publish(system.administrator, 'scripts', withoutDetect, TEAM);
    const input = blocksOf(system, 'docs/undo.md', 'undo').join('');
    const { code, errors } = await runShell(['-eu'], { ...place, TEMPLATE }, { input, withinMs: 170_000 });
    expect(code).toBe(1);
    expect(errors).toMatch(/is blocked:\s+[\s\S]*"problem":\{"code":"not_comparable","message":"(?:[^"\\]|\\.)*detect/);
  });
});

describe('the tables of docs/undo.md', () => {
  it.each([
    ['## States of an attempt', attemptStates],
    ['## Verdicts', verdictWords],
    ['## Problems', Object.keys(problemCodes)],
  ])('list everything under "%s"', (heading, words) => {
    const listed = tableUnder('docs/undo.md', heading).map(([word = '']) => word.replaceAll('`', ''));
    expect(listed.sort()).toEqual([...words].sort());
  });
});
