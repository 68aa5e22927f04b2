import { afterAll, describe, expect, it } from 'vitest';
import type { ExecutionResult, Tool } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, requireTools, run, type TestRequest } from '../support.ts';

const root = makeWorkRoot();
const tools = await requireTools();
afterAll(() => root.remove());

describe.each(tools.map(({ name, version }) => [name, version] as const))('a check with %s %s', (name, version) => {
  const tool: Tool = { name, version };
  const check = (files: Record<string, string>, changes: Partial<TestRequest> = {}) =>
    run(
      makeRequest({
        workRoot: root.path,
        executor: { kind: 'opentofu', files },
        tool,
        phase: 'detect',
        check: true,
        ...changes,
      }),
    );
  const reportOf = ({ result }: { result: ExecutionResult }) => {
    if (!result.check) throw new Error(`no report: ${JSON.stringify(result)}`);
    return result.check;
  };

  it('finds nothing against a valid configuration with a module beside it', async () => {
    const files = {
      'main.tf': 'module "net" { source = "./net" }\noutput "cidr" { value = module.net.cidr }\n',
      'net/main.tf': 'output "cidr" { value = "10.0.0.0/8" }\n',
    };
    const ran = await check(files);
    expect(ran.result, ran.sink.text()).toMatchObject({ outcome: 'succeeded', tool });
    expect(reportOf(ran)).toEqual({ findings: [], unchecked: [], missingPrograms: [] });
    expect(ran.result.plan).toBeUndefined();
  });

  it('names file and line of an unclosed interpolation', async () => {
    const { findings, unchecked } = reportOf(
      await check({ 'main.tf': 'output "url" {\n  value = "https://${var.site"\n}\n' }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        message: expect.stringMatching(/Unclosed template/),
        file: 'main.tf',
        line: 2,
      }),
    );
    expect(unchecked).toEqual([]);
  });

  it('names the line on which a comment begins inside of an interpolation, once', async () => {
    const main = 'locals {\n  text = "${#PW}"\n}\noutput "a" { value = "1" }\noutput "b" { value = "2" }\n';
    const { findings } = reportOf(await check({ 'main.tf': main }));
    expect(findings.map(({ message, line }) => [message, line])).toContainEqual(['A comment begins inside of "${"', 2]);
    expect(new Set(findings.map(({ message }) => message)).size).toBe(findings.length);
  });

  it('names file and line of an undeclared variable and of an output that a module lacks', async () => {
    const files = {
      'main.tf':
        'module "net" { source = "./net" }\noutput "a" { value = var.site }\noutput "b" { value = module.net.cidr }\n',
      'net/main.tf': 'output "other" { value = 1 }\n',
    };
    const { findings } = reportOf(await check(files));
    expect(findings.map(({ message, file, line }) => [message, file, line])).toEqual([
      ['Reference to undeclared input variable', 'main.tf', 2],
      ['Unsupported attribute', 'main.tf', 3],
    ]);
  });

  it('names a directory of a module that is not among the files', async () => {
    const { findings, unchecked } = reportOf(
      await check({ 'main.tf': '\nmodule "net" {\n  source = "./absent"\n}\n' }),
    );
    expect(findings).toEqual([
      {
        severity: 'error',
        message: 'the module "net" is in a directory that is not among the files',
        file: 'main.tf',
        line: 2,
      },
    ]);
    expect(unchecked).toEqual([]);
  });

  it('reports a module or provider that it could not fetch as unchecked, and not as an error', async () => {
    const module = { 'main.tf': 'module "net" {\n  source = "git::https://127.0.0.1:1/net.git"\n}\n' };
    const moduleReport = reportOf(await check(module));
    expect(moduleReport.findings).toEqual([]);
    expect(moduleReport.unchecked).toEqual([
      expect.stringMatching(/Failed to download module.*127\.0\.0\.1:1\/net\.git/),
    ]);
    const provider = {
      'main.tf':
        'terraform {\n  required_providers {\n    foo = {\n      source = "acme/foo"\n    }\n  }\n}\nresource "foo_bar" "x" {}\n',
    };
    const providerReport = reportOf(await check(provider));
    expect(providerReport.findings).toEqual([]);
    expect(providerReport.unchecked).toEqual([expect.stringMatching(/acme\/foo/)]);
  });

  it.each([1, 2])('reports no error if locked providers could not be fetched: %d', async (count) => {
    const registry = name === 'opentofu' ? 'registry.opentofu.org' : 'registry.terraform.io';
    const names = ['foo', 'bar'].slice(0, count);
    const needs = names.map((each) => `    ${each} = {\n      source = "acme/${each}"\n    }\n`).join('');
    const locks = names.map((each) => `provider "${registry}/acme/${each}" {\n  version = "1.2.3"\n}\n`).join('');
    const uses = names.map((each) => `resource "${each}_thing" "x" {}\n`).join('');
    const files = {
      'main.tf': `terraform {\n  required_providers {\n${needs}  }\n}\n${uses}`,
      '.terraform.lock.hcl': locks,
    };
    const { findings, unchecked } = reportOf(await check(files));
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(unchecked.join()).toMatch(/acme\/foo/);
  });

  it('keeps warnings with file and line', async () => {
    const files = {
      'main.tf':
        'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = "true"\n    when    = "destroy"\n  }\n}\n',
    };
    const { findings } = reportOf(await check(files));
    expect(findings).toEqual([expect.objectContaining({ severity: 'warning', file: 'main.tf', line: 4 })]);
  });

  it('checks the directory of a repository, and names files from the root of the repository', async () => {
    const files = {
      'live/main.tf': 'module "net" { source = "../net" }\noutput "a" { value = var.b }\n',
      'net/main.tf': 'output "x" { value = var.y }\n',
    };
    const ran = await check(files, { executor: { kind: 'opentofu', files, directory: 'live' } });
    expect(reportOf(ran).findings.map(({ file, line }) => [file, line])).toEqual([
      ['live/main.tf', 2],
      ['net/main.tf', 1],
    ]);
  });

  it('refuses what a run would refuse before it starts the tool', async () => {
    const { findings } = reportOf(await check({ 'only_override.tf': 'locals {}\n' }));
    expect(findings).toEqual([{ severity: 'error', message: expect.stringMatching(/has only only_override\.tf/) }]);
  });

  it("runs validate without the run's environment, the network and the machine's files", async () => {
    const files = {
      'main.tf':
        'locals {\n  stolen = file("/etc/shadow")\n}\noutput "a" { value = local.stolen }\noutput "b" { value = file("/proc/1/environ") }\n',
    };
    const ran = await check(files, {
      environment: [{ name: 'PRIVATE_TOKEN', value: 'tok-3n-of-somebody', sensitive: true }],
    });
    const report = reportOf(ran);
    expect(JSON.stringify(report)).not.toMatch(/root:|tok-3n-of-somebody/);
    expect(ran.sink.text()).not.toMatch(/root:|tok-3n-of-somebody/);
  });

  it('ends at its time limit', async () => {
    const files = { 'main.tf': 'module "net" {\n  source = "git::file:///dev/zero"\n}\n' };
    const ran = await check(files, { timeoutMs: 1, graceMs: 0 });
    expect(ran.result).toMatchObject({ outcome: 'timed_out', reason: 'time_limit' });
    expect(ran.result.check).toBeUndefined();
  });
});

describe('a check of commands', () => {
  it('names the steps whose programs the worker does not have, and runs no step', async () => {
    const { result, sink } = await run(
      makeRequest({
        workRoot: root.path,
        phase: 'detect',
        check: true,
        executor: {
          kind: 'command',
          files: { 'deploy.sh': '#!/bin/sh\necho ran\n' },
          apply: [
            { name: 'own', run: ['./deploy.sh'] },
            { name: 'known', run: ['sh', 'deploy.sh'] },
            { name: 'unknown', run: ['no-such-program-1', 'x'] },
            { name: 'builtin', run: ['cd', '/'] },
            { name: 'absolute', run: ['/opt/none/tool'] },
            { name: 'elsewhere', run: ['no-such-program-2'], env: { PATH: '/work/bin' } },
          ],
          destroy: [{ name: 'again', run: ['no-such-program-1'] }],
        },
      }),
    );
    expect(result.check?.missingPrograms).toEqual([
      { list: 'apply', index: 2, program: 'no-such-program-1' },
      { list: 'apply', index: 3, program: 'cd' },
      { list: 'apply', index: 4, program: '/opt/none/tool' },
      { list: 'destroy', index: 0, program: 'no-such-program-1' },
    ]);
    expect(sink.text()).not.toContain('ran');
  });
});
