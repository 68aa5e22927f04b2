import { afterAll, describe, expect, it } from 'vitest';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools, run, type TestRequest } from '../support.ts';
import { loggedCommands, useTool } from './opentofu-support.ts';

/** The service refuses what the command line of a tool refuses: the table of docs/security.md. */
const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const resource = 'resource "terraform_data" "x" {\n  input = "a"\n}\n';
const of = (files: TemplateFiles, directory?: string): OpenTofuExecutor => ({ kind: 'opentofu', files, directory });
const state = (changes: object = {}) =>
  Buffer.from(
    JSON.stringify({
      version: 4,
      terraform_version: '1.6.0',
      serial: 3,
      lineage: 'lineage-1',
      outputs: {},
      resources: [
        {
          mode: 'managed',
          type: 'terraform_data',
          name: 'x',
          provider: 'provider["terraform.io/builtin/terraform"]',
          instances: [
            { schema_version: 0, attributes: { id: '1', input: null, output: null, triggers_replace: null } },
          ],
        },
      ],
      ...changes,
    }),
  );

describe.each(tools)('a guard of the command line with $name $version', ({ name, version }) => {
  const { request, plan, deploy, apply } = useTool(work.path, { name, version });
  const attempt = (executor: OpenTofuExecutor, changes: Partial<TestRequest> = {}) =>
    run(request({ phase: 'plan', executor, variables: {}, ...changes }));
  const unread = name === 'terraform' ? 'main.tofu' : 'main.tf~';

  it.each<[string, OpenTofuExecutor]>([
    ['nothing', of({ 'readme.md': '' })],
    ['only files of another tool or an editor', of({ [unread]: resource, '.hidden.tf': resource })],
    ['only override files', of({ 'override.tf': resource, 'x_override.tf.json': '{}' })],
    ['only files of other directories', of({ 'a/main.tf': resource, 'b/x.txt': '' }, 'b')],
  ])('refuses a configuration that has %s, for every operation and for scans', async (_, executor) => {
    for (const operation of ['apply', 'destroy', 'refresh', 'plan'] as const) {
      const { result, sink } = await attempt(executor, { operation, state: state() });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'no_configuration' });
      expect(loggedCommands(sink)).toEqual([]);
    }
    const scan = await attempt(executor, { phase: 'detect', operation: 'plan', state: state() });
    expect(scan.result).toMatchObject({ outcome: 'failed', reason: 'no_configuration' });
  });

  it('refuses a directory that does not exist', async () => {
    const { result } = await attempt(of({ 'main.tf': resource }, 'live'));
    expect(result).toMatchObject({ reason: 'files_invalid', message: 'the template has no directory "live"' });
  });

  it('lets a configuration without resources destroy all deployed resources', async () => {
    const { plan: made } = await plan({ executor: of({ 'main.tf': '# nothing' }), variables: {}, state: state() });
    expect(made.changes).toMatchObject([{ action: 'delete' }]);
  });

  it('refuses a version of the tool that the configuration does not allow', async () => {
    // OpenTofu 1.12 and later reads this argument in its own files only.
    const main = name === 'terraform' ? 'main.tf' : 'main.tofu';
    const { result } = await attempt(of({ [main]: `terraform {\n  required_version = ">= 99.0"\n}\n${resource}` }));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
    expect(result.message).toMatch(/version|Incompatible module/i);
  });

  it('refuses a state in a format of a newer version', async () => {
    const { result } = await attempt(of({ 'main.tf': resource }), { state: state({ version: 5 }) });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
  });

  it('refuses a state that OpenTofu has encrypted if the configuration has no key', async () => {
    const encrypted = {
      version: undefined,
      resources: undefined,
      outputs: undefined,
      encrypted_data: 'eA==',
      encryption_version: 'v0',
      meta: {},
    };
    const { result } = await attempt(of({ 'main.tf': resource }), { state: state(encrypted) });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
  });

  it('refuses a plan if the state has changed or has another lineage', async () => {
    const executor = of({ 'main.tf': resource });
    const first = await deploy({ executor, variables: {} });
    const changed = of({ 'main.tf': resource.replace('"a"', '"b"') });
    const planned = await plan({ executor: changed, variables: {}, state: first.state });
    const later = JSON.parse(String(first.state));
    for (const other of [
      { ...later, serial: later.serial + 1 },
      { ...later, lineage: 'another' },
    ]) {
      const { result, sink } = await apply(planned.plan, {
        executor: changed,
        variables: {},
        state: Buffer.from(JSON.stringify(other)),
      });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'apply_failed' });
      expect(result.message).toMatch(/stale|lineage|does not match/i);
      expect(sink.states).toEqual([]);
    }
  });

  it('refuses to destroy what the configuration protects', async () => {
    const executor = of({ 'main.tf': resource.replace('}', '  lifecycle {\n    prevent_destroy = true\n  }\n}') });
    for (const operation of ['destroy', 'apply'] as const) {
      const replace = operation === 'apply' ? ['terraform_data.x'] : [];
      const { result } = await attempt(executor, { operation, replace, state: state() });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'plan_failed' });
      expect(result.message).toMatch(/cannot be destroyed/);
    }
  });

  it('refuses a local module whose directory does not exist', async () => {
    const { result } = await attempt(of({ 'main.tf': 'module "m" {\n  source = "./m"\n}\n' }));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'init_failed' });
  });

  it('cannot be turned off by environment variables', async () => {
    const given = {
      TF_WORKSPACE: 'other',
      TF_CLI_ARGS: '-invalid',
      TF_CLI_ARGS_plan: '-invalid',
      TF_CLI_CONFIG_FILE: '/nowhere',
      TF_DATA_DIR: '/tmp/data',
      TF_HTTP_ADDRESS: 'http://127.0.0.1:1/',
      TF_REATTACH_PROVIDERS: 'not json',
      TF_PLUGIN_CACHE_DIR: '/nowhere',
      TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE: 'true',
      TF_ENCRYPTION: 'not valid {',
    };
    const environment = Object.entries(given).map(([key, value]) => ({ name: key, value, sensitive: false }));
    const executor = of({ 'main.tf': 'resource "terraform_data" "x" {\n  input = terraform.workspace\n}\n' });
    const { result, sink } = await attempt(executor, { environment });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(result.plan?.changes).toMatchObject([{ after: { input: 'default' } }]);
    for (const key of Object.keys(given)) expect(sink.text('system')).toContain(`the variable ${key} is not passed on`);
  });
});

const terraform = tools.find((tool) => tool.name === 'terraform');
const openTofu = tools.find((tool) => tool.name === 'opentofu');

describe.skipIf(!terraform)('a configuration for OpenTofu with Terraform', () => {
  const { request } = useTool(work.path, { name: 'terraform', version: terraform?.version ?? '' });
  const attempt = (files: TemplateFiles) =>
    run(request({ phase: 'plan', executor: of(files), variables: {}, state: state() }));

  it('is refused if Terraform reads none of its declarations', async () => {
    const others: TemplateFiles[] = [
      { 'versions.tf': 'terraform {\n  required_version = ">= 1"\n}\n' },
      { 'main.tf': '# see main.tofu' },
    ];
    for (const rest of others) {
      const { result } = await attempt({ 'main.tofu': resource, ...rest });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'no_configuration' });
      expect(result.message).toContain('main.tofu (for OpenTofu)');
    }
  });

  it('is planned if Terraform reads a part of it, and the log names the unread files', async () => {
    const { result, sink } = await attempt({ 'main.tf': resource, 'more.tofu': resource.replace('x', 'y') });
    expect(result.plan?.changes).toMatchObject([{ address: 'terraform_data.x' }]);
    expect(sink.text('system')).toContain('terraform does not read more.tofu (for OpenTofu)');
  });
});

it.skipIf(!openTofu)('OpenTofu reads x.tofu in place of x.tf', async () => {
  const { plan } = useTool(work.path, { name: 'opentofu', version: openTofu?.version ?? '' });
  const executor = of({ 'main.tf': resource, 'main.tofu': resource.replace('"a"', '"of-tofu"') });
  const { plan: made, sink } = await plan({ executor, variables: {} });
  expect(made.changes).toMatchObject([{ after: { input: 'of-tofu' } }]);
  expect(sink.text('system')).toContain('opentofu does not read main.tf (for Terraform)');
});
