import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findingStatuses } from '#domain/drift/findings/model.ts';
import { remediationDirections } from '#domain/drift/model.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { publish } from '#test/support/templates.ts';
import { codeBlocks, tableUnder } from './markdown.ts';

/** The input of its resource is another one at every plan. */
const clock = {
  executor: { kind: 'opentofu', files: { 'main.tf': 'resource "terraform_data" "clock" { input = plantimestamp() }' } },
};

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

const commands = (file: string, name: string) =>
  codeBlocks(file)
    .filter(({ info }) => info === `sh ${name}`)
    .map(({ text }) => text)
    .join("echo '--'\n")
    .replaceAll('http://127.0.0.1:8080', system.url);

describe('the commands of docs/drift.md', () => {
  it('find a deviation, accept it, and ask for a run that reverts it', { timeout: 180_000 }, async () => {
    const { email, password } = administrator;
    const TOKEN = (await system.administrator.post('/auth/sessions', { email, password })).body.token;
    const place = await runShell(
      ['-eu'],
      { TOKEN },
      { input: `${commands('docs/access.md', 'place')}echo "$TEAM $ENVIRONMENT"\n` },
    );
    const [TEAM = '', ENVIRONMENT = ''] = place.output.trim().split(' ');
    const TEMPLATE = await publish(system.administrator, 'clock', clock, TEAM);
    const input = commands('docs/drift.md', 'drift');
    const given = { TOKEN, TEMPLATE, ENVIRONMENT };
    const { code, output, errors } = await runShell(['-eu'], given, { input, withinMs: 170_000 });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [, found = '', suppressed = '', remedied = ''] = output.split('--\n');
    const findings = JSON.parse(found).drift_findings;
    expect(findings.map(({ path }: { path: string }) => path)).toContain('input');
    const [finding] = findings;
    expect(finding).toMatchObject({ address: 'terraform_data.clock', status: 'open', seen_count: 1 });
    expect(JSON.parse(suppressed)).toMatchObject({ id: finding.id, status: 'suppressed' });
    expect(JSON.parse(remedied)).toMatchObject({ operation: 'apply', drift_finding_id: finding.id });
  });
});

describe('the tables of docs/drift.md', () => {
  it.each([
    ['## Findings', findingStatuses],
    ['## Remediation', remediationDirections],
  ])('list everything under "%s"', (heading, words) => {
    const listed = tableUnder('docs/drift.md', heading).map(([word = '']) => word.replaceAll('`', ''));
    expect(listed.sort()).toEqual([...words].sort());
  });
});
