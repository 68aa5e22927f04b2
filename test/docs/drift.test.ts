import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findingStatuses } from '#domain/drift/findings/model.ts';
import { remediationDirections } from '#domain/drift/model.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { publish } from '#test/support/templates.ts';
import { blocksOf, makePlace, runBlocks } from './examples.ts';
import { tableUnder } from './markdown.ts';

/** The input of its resource differs at every plan. */
const clock = {
  executor: { kind: 'opentofu', files: { 'main.tf': 'resource "terraform_data" "clock" { input = plantimestamp() }' } },
};

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

describe('the commands of docs/drift.md', () => {
  it('find a deviation, accept it, and ask for a run that reverts it', { timeout: 180_000 }, async () => {
    const { TEAM, ...place } = await makePlace(system);
    const TEMPLATE = await publish(system.administrator, 'clock', clock, TEAM);
    const blocks = blocksOf(system, 'docs/drift.md', 'drift');
    const outputs = await runBlocks(blocks, { ...place, TEMPLATE }, 170_000);
    const [, found = '', suppressed = '', remedied = ''] = outputs;
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
