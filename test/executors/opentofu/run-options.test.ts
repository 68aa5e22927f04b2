import { afterAll, describe, expect, it } from 'vitest';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools, run } from '../support.ts';
import { useTool } from './opentofu-support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const three: OpenTofuExecutor = {
  kind: 'opentofu',
  files: {
    'main.tf': `variable "size" { type = number }
resource "terraform_data" "a" { input = var.size }
resource "terraform_data" "b" { input = terraform_data.a.output }
resource "terraform_data" "c" { input = var.size }
`,
  },
};

describe.each(tools)('the options of a run with $name $version', ({ name, version }) => {
  const { request, plan, apply } = useTool(work.path, { name, version });
  const planned = async (options: object) => {
    const { plan: made } = await plan({ executor: three, options });
    return made.changes.map(({ address }) => address).sort();
  };

  it('target plans and applies the named resources and what they depend on, and nothing else', async () => {
    expect(await planned({ target: ['terraform_data.b'] })).toEqual(['terraform_data.a', 'terraform_data.b']);
    const options = { target: ['terraform_data.c'], parallelism: 1 };
    const made = await plan({ executor: three, options });
    const { result, sink } = await apply(made.plan, { executor: three, options });
    expect(result.outcome).toBe('succeeded');
    const state = JSON.parse(sink.states.at(-1)?.content.toString() ?? '{}');
    expect(state.resources.map(({ name: of }: { name: string }) => of)).toEqual(['c']);
  });

  it('exclude leaves out the named resources, or is refused by name if the tool does not know it', async () => {
    const options = { exclude: ['terraform_data.a'] };
    if (name === 'opentofu') return expect(await planned(options)).toEqual(['terraform_data.c']);
    const { result, sink } = await run(request({ phase: 'plan', executor: three, options }));
    const message = `the option exclude needs opentofu 1.9 or newer, and the tool is ${name} ${version}`;
    expect(result).toMatchObject({ outcome: 'failed', reason: 'operation_unsupported', message });
    expect(sink.text()).not.toContain('Usage:');
  });

  it('refresh: false compares with the state alone', async () => {
    const { sink } = await plan({ executor: three, options: { refresh: false } });
    expect(sink.text()).not.toContain('Refreshing state');
  });

  it('log_level logs apart from the log of the run, without the secrets that are known', async () => {
    const secret = 'a-secret-of-the-debug-log';
    const executor: OpenTofuExecutor = {
      kind: 'opentofu',
      files: {
        'main.tf':
          `variable "token" { type = string }
resource "terraform_data" "x" {
  input = var.token
  provisioner "local-exec" { command = "echo from the program: $` +
          '{var.token} >> /tmp/coordinator-debug.log; true" }\n}',
      },
    };
    const changes = { executor, variables: { token: secret }, sensitiveVariables: ['token'] };
    const options = { log_level: 'trace' as const };
    const made = await plan({ ...changes, options });
    const text = made.result.debugLog?.toString() ?? '';
    expect(text).toMatch(new RegExp(`^== ${name === 'opentofu' ? 'opentofu' : 'terraform'} (init|plan) ==`));
    expect(text).toContain('[TRACE]');
    expect(made.sink.text()).not.toContain('[TRACE]');
    const { result, sink } = await apply(made.plan, { ...changes, options });
    expect(result.outcome, sink.text()).toBe('succeeded');
    expect(result.debugLog?.toString()).toContain(' apply ==');
    expect(result.debugLog?.toString()).not.toContain(secret);
    expect((await plan(changes)).result.debugLog).toBeUndefined();
  });
});
