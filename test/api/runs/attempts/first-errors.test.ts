import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

const secret = 's3cr3t-of-the-first-error';
let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.close());

const failing = (main: string) => ({
  variables: { type: 'object', properties: { token: { type: 'string', writeOnly: true } } },
  executor: { kind: 'opentofu', files: { 'main.tf': main } },
});

async function eventsOf(id: string) {
  const { body } = await system.administrator.get(`/runs/${id}/events`);
  return body.events as { type: string; data: Record<string, unknown> }[];
}

describe('a run that fails', () => {
  it('shows the first error of the tool with file, line and source, and its events have the error without the source', async () => {
    const { administrator } = system;
    const main = `variable "token" { type = string }
resource "terraform_data" "x" {
  input = {
    of  = var.token
    bad = tonumber(var.word)
  }
}
variable "word" {
  default = "none"
}
`;
    const template = await publish(administrator, 'undeclared', failing(main));
    const run = await runToEnd(administrator, {
      template_id: template,
      instance: 'undeclared',
      variables: { token: secret },
    });
    expect(run).toMatchObject({
      status: 'failed',
      status_reason: 'plan_failed',
      status_detail: {
        message: expect.stringMatching(/^Invalid function argument: .*"v"/),
        file: 'main.tf',
        line: 5,
        snippet: 'bad = tonumber(var.word)',
        source: 'tool',
      },
    });
    const { snippet: _, ...detail } = run.status_detail;
    const ended = (await eventsOf(run.id)).find(({ type }) => type === 'run.finished');
    expect(ended?.data).toMatchObject({ status: 'failed', reason: 'plan_failed', status_detail: detail });
  });

  it('shows the last output of its step, and names a program that the pool does not have', async () => {
    const { administrator } = system;
    const template = await publish(
      administrator,
      'missing-program',
      commands({ deploy: `echo ${secret} >&2; frobnicate --now` }),
    );
    const run = await runToEnd(administrator, { template_id: template, instance: 'missing', variables: {} });
    expect(run.status_detail.source).toBe('tool');
    expect(run.status_detail.message).toContain('"frobnicate" does not exist on the workers of the pool "default"');
    expect(run.status_detail.message).toContain('step "deploy" ended with exit code 127');
    const step = { name: 'deploy', run: ['kubectl-of-nobody', 'apply'] };
    const absent = await publish(administrator, 'absent', { executor: { kind: 'command', apply: [step] } });
    const other = await runToEnd(administrator, { template_id: absent, instance: 'absent', variables: {} });
    expect(other).toMatchObject({ status_reason: 'step_not_started', status_detail: { source: 'service' } });
    expect(other.status_detail.message).toContain('"kubectl-of-nobody" could not be started');
    expect(other.status_detail.message).toContain('(the pool is "default")');
  });

  it('has no detail if it succeeds', async () => {
    const template = await publish(system.administrator, 'fine', commands({ deploy: 'echo warned >&2' }));
    const run = await runToEnd(system.administrator, { template_id: template, instance: 'fine', variables: {} });
    expect(run).toMatchObject({ status: 'succeeded', status_detail: null });
  });
});
