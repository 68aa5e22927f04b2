import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import { redacted } from '#domain/shared/values/comparison/marks.ts';
import { readPlan } from '#executors/opentofu/plan-json/plan.ts';
import { makeWorkRoot, runSteps, shell } from './support.ts';

const secret = 'hunter2-secret';

function redactorOf(...secrets: string[]): Redactor {
  const redactor = new Redactor();
  for (const each of secrets) redactor.learn(each);
  return redactor;
}

describe('a plan with a secret in its names', () => {
  const named = `x["${secret}"]`;
  const change = { actions: ['update'], before: { m: { [secret]: 1 } }, after: { m: { [`${secret}-b`]: 2 } } };
  const resource = { address: `t.${named}`, type: 't', previous_address: `t.old["${secret}"]`, change };
  const plan = {
    resource_changes: [{ ...resource, change: { ...change, replace_paths: [['m', secret]] } }],
    resource_drift: [resource],
    output_changes: { [`of-${secret}`]: { actions: ['create'], before: null, after: { [secret]: secret } } },
    checks: [
      {
        address: { kind: 'check' },
        instances: [
          {
            address: { to_display: `check.${named}` },
            status: 'fail',
            problems: [{ message: `not hunter2\0-secret` }],
          },
        ],
      },
    ],
    action_invocations: [
      {
        address: `action.a.${named}`,
        type: 'a',
        config_values: { [secret]: 1 },
        lifecycle_action_trigger: { triggering_resource_address: `t.${named}`, action_trigger_event: 'AfterCreate' },
      },
    ],
    deferred_changes: [{ reason: 'resource_config_unknown', resource_change: resource }],
  };

  it('does not contain the secret', () => {
    const { ephemeral: _, ...read } = readPlan(Buffer.from(JSON.stringify(plan)), { redactor: redactorOf(secret) });
    const shown = JSON.stringify(read);
    expect(shown).not.toMatch(/hunter2/);
    expect(shown.split(redacted).length).toBeGreaterThan(12);
  });

  it('keeps all of many outputs whose names would be equal without their secrets, in little time', () => {
    const secrets = Array.from({ length: 5_000 }, (_, index) => `secret-${String(index).padStart(6, '0')}`);
    const changed = { actions: ['delete'], before: 1, after: null };
    const outputs = Object.fromEntries(secrets.map((name) => [name, changed]));
    const json = Buffer.from(JSON.stringify({ output_changes: outputs }));
    const names = readPlan(json, { redactor: redactorOf(...secrets) }).sections.outputs.map(({ name }) => name);
    expect(new Set(names).size).toBe(secrets.length);
    expect(names.join()).not.toContain('secret-');
  });
});

describe('an attempt of a command with a secret in its names', () => {
  const root = makeWorkRoot();
  afterAll(root.remove);
  const given = { variables: { password: secret, port: 1 }, sensitiveVariables: ['password'] };
  let outputs: Readonly<Record<string, unknown>> = {};

  beforeAll(async () => {
    const written = { [secret]: 1, [`${secret}`.toUpperCase()]: 2, map: { [secret]: 1 }, [`declared-${secret}`]: 3 };
    const script = `printf '%s' '${JSON.stringify(written)}' > "$COORDINATOR_OUTPUTS_FILE"`;
    const declared = { [`declared-${secret}`]: { sensitive: false } };
    const { result } = await runSteps(root.path, { apply: [shell(script)] }, { ...given, outputs: declared });
    outputs = result.outputs ?? {};
  });

  it('redacts the secret in names of outputs that its template does not declare', () => {
    expect(Object.keys(outputs)).toEqual([redacted, 'HUNTER2-SECRET', 'map', `declared-${secret}`]);
  });

  it('marks an output as sensitive if its map has the secret as a key', () => {
    expect(outputs['map']).toMatchObject({ sensitive: true });
  });

  it('redacts the secret in the name of a step that fails or takes too long', async () => {
    const name = `step of ${secret}`;
    const fails = await runSteps(root.path, { apply: [shell('exit 3', { name })] }, given);
    const lasts = await runSteps(root.path, { apply: [shell('sleep 20', { name, timeout: 'PT1S' })] }, given);
    for (const { result, sink } of [fails, lasts]) {
      expect(result.message).toContain(redacted);
      expect(JSON.stringify(result) + sink.text()).not.toContain('hunter2');
    }
  });
});
