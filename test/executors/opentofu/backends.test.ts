import { afterAll, describe, expect, it } from 'vitest';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeWorkRoot, requireTools, run } from '../support.ts';
import { useTool } from './opentofu-support.ts';

/** Repositories come with the backend that they had elsewhere. The service stores the state, whatever the backend is. */
const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);

const resource = 'resource "terraform_data" "x" {\n  input = "a"\n}\n';
const cloud =
  'terraform {\n  cloud {\n    organization = "acme"\n    workspaces {\n      name = "network"\n    }\n  }\n}\n';
const s3 = 'terraform {\n  backend "s3" {\n    bucket = "b"\n    key    = "k"\n    region = "r"\n  }\n}\n';
const stolen = 'terraform {\n  backend "local" {\n    path = "/tmp/stolen"\n  }\n}\n';
const asJson = (terraform: object) => JSON.stringify({ terraform });

describe.each(tools)('the backend of a repository with $name $version', ({ name, version }) => {
  const { request, plan, apply } = useTool(work.path, { name, version });
  const of = (files: TemplateFiles): OpenTofuExecutor => ({ kind: 'opentofu', files });

  it.each<[string, TemplateFiles, string]>([
    ['a cloud block', { 'main.tf': cloud + resource }, 'main.tf, line 2: the cloud block has no effect'],
    [
      'a cloud block with tags or a prefix',
      { 'main.tf': `terraform {\n  cloud {\n    workspaces {\n      tags = ["a"]\n    }\n  }\n}\n${resource}` },
      'main.tf, line 2: the cloud block has no effect',
    ],
    ['a complete backend', { 'a.tf': s3, 'main.tf': resource }, 'a.tf, line 2: the backend "s3" has no effect'],
    [
      'a backend whose settings are elsewhere',
      { 'main.tf': `terraform {\n  backend "azurerm" {}\n}\n${resource}`, 'prod.tfbackend': 'x = 1' },
      '-backend-config files, are not used either',
    ],
    [
      'a remote backend with a prefix',
      {
        'main.tf': `terraform {\n  backend "remote" {\n    workspaces {\n      prefix = "a-"\n    }\n  }\n}\n${resource}`,
      },
      'the backend "remote" has no effect',
    ],
    [
      'a backend in JSON',
      { 'main.tf': resource, 'b.tf.json': asJson({ backend: { gcs: { bucket: 'b' } } }) },
      'b.tf.json, line 1: the backend "gcs" has no effect',
    ],
    ['an unknown backend', { 'main.tf': `terraform {\n  backend "nope" {}\n}\n${resource}` }, 'the backend "nope"'],
  ])('has no effect, and is named in the log: %s', async (_, files, note) => {
    const executor = of(files);
    const planned = await plan({ executor, variables: {} });
    expect(planned.sink.text('system')).toContain(note);
    const { result, sink } = await apply(planned.plan, { executor, variables: {} });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(sink.states.at(-1)?.content.toString()).toContain('terraform_data');
  });

  const overrides: [string, TemplateFiles][] = [
    ['a name that sorts later', { 'zzzzz_override.tf': stolen }],
    ['a name beyond ASCII', { 'é_override.tf': stolen, 'zz_override.tf': cloud }],
    ['JSON', { 'zzzzz_override.tf.json': asJson({ backend: { local: { path: '/tmp/stolen' } } }) }],
    ['a cloud block', { 'zzzzz_override.tf': cloud }],
  ];
  if (name === 'opentofu') {
    overrides.push(
      ['an extension of OpenTofu', { 'zzzzz_override.tofu': stolen }],
      ['JSON of OpenTofu', { 'zzzzz_override.tofu.json': asJson({ cloud: { organization: 'x' } }) }],
      [
        'a name like that of our file',
        { 'zzzzz_override.tf': '', 'zzzzz_override.tf_zzzz_coordinator_override.tofu': stolen },
      ],
    );
  }
  it.each(overrides)('has no effect in an override file with %s', async (_, files) => {
    const executor = of({ 'main.tf': resource, ...files });
    const planned = await plan({ executor, variables: {} });
    const { result, sink } = await apply(planned.plan, { executor, variables: {} });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(sink.states).toHaveLength(1);
  });

  it("cannot be in a file with the name of the service's own file, whatever its extension", async () => {
    for (const extension of ['tf', 'tofu', 'tf.json', 'tofu.json']) {
      const file = `zzzz_coordinator_override.${extension}`;
      const { result } = await run(request({ phase: 'plan', executor: of({ 'main.tf': resource, [file]: '{}' }) }));
      expect(result).toMatchObject({ outcome: 'failed', reason: 'files_invalid' });
      expect(result.message).toContain(file);
    }
  });

  const provider = '    key_provider "external" "k" { command = ["x"] }\n';
  const encryption = `terraform {\n  encryption {\n${provider}  }\n}\n`;
  const external = '{"key_provider": {"external": {"k": {"command": ["x"]}}}}';
  it.each<[string, TemplateFiles]>([
    ['in a block', { 'main.tf': encryption }],
    ['with an escape in its name', { 'main.tf': encryption.replace('external', '\\u0065xternal') }],
    [
      'after a text in which a heredoc ends',
      { 'main.tf': `locals {\n  a = "\${<<E\n"\nE\n}"\n}\n${encryption}locals {\n  b = "\${<<E\n"\nE\n}"\n}\n` },
    ],
    [
      'after a heredoc with its own mark inside it',
      { 'main.tf': `locals {\n  a = <<E\n\${\nE\n}\nE\n}\n${encryption}` },
    ],
    [
      'with a mark among spaces of Unicode',
      { 'main.tf': `locals {\n  a = <<E\n\u00A0E\n}\n${encryption}locals {\n  b = <<E\nE\n}\n` },
    ],
    [
      'behind a repeated key',
      { 'main.tf': '', 'a.tf.json': `{"terraform": {"encryption": ${external}}, "terraform": {}}` },
    ],
    ['in a list in a list', { 'main.tf': '', 'a.tf.json': `{"terraform": [[{"encryption": ${external}}]]}` }],
    ['in a file that is too long to be read', { 'main.tf': `${encryption}#${'x'.repeat(4 * 1024 * 1024)}` }],
  ])('may not encrypt the state with an external program %s', async (_, files) => {
    const { result } = await run(request({ phase: 'plan', executor: of(files) }));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'backend_forbidden' });
  });

  it('may encrypt the state if only a local value is called "external"', async () => {
    const main = `terraform {\n  encryption {}\n}\nlocals {\n  external = 1\n}\n${resource}`;
    const { result } = await run(request({ phase: 'plan', executor: of({ 'main.tf': main }) }));
    expect(result.reason).not.toBe('backend_forbidden');
  });

  it('has no workspace but "default", and the log names what uses terraform.workspace', async () => {
    const main = `${cloud}resource "terraform_data" "x" {\n  input = "env-\${terraform.workspace}"\n}\n`;
    const { plan: made, sink } = await plan({ executor: of({ 'main.tf': main }), variables: {} });
    expect(made.changes).toMatchObject([{ after: { input: 'env-default' } }]);
    expect(sink.text('system')).toContain('main.tf, line 10: terraform.workspace is "default" in every run');
  });
});
