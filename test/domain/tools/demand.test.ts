import { describe, expect, it } from 'vitest';
import { readFilesTools } from '#domain/registry/tools/files-tools.ts';
import {
  bestOf,
  canBeAtLeast,
  intersectDemand,
  isMeantBy,
  mayFollow,
  meetsDemand,
  toWantedTools,
} from '#domain/tools/demand.ts';

const anyFiles = readFilesTools({ 'main.tf': '' });
const wanted = { by: 'template', tool: { name: 'opentofu', version: '~> 1.9' } } as const;

describe('the tool versions that fit a run', () => {
  it('include both tools if nothing requires one', () => {
    const demand = intersectDemand({ files: anyFiles, wanted: [], writer: null });
    expect(demand).toEqual({ opentofu: [], terraform: [] });
  });

  it('satisfy template version, environment, files and state at once', () => {
    const files = readFilesTools({ 'main.tofu': 'terraform {\n  required_version = "< 1.12"\n}' });
    const environment = { by: 'environment', tool: { name: 'opentofu', version: '!= 1.10.1' } } as const;
    const writer = { name: 'opentofu', version: '1.10.0' };
    const demand = intersectDemand({ files, wanted: [wanted, environment], writer });
    if ('conflict' in demand) throw new Error(demand.conflict);
    expect(toWantedTools(demand)).toEqual([{ name: 'opentofu', version: '< 1.12, ~> 1.9, != 1.10.1, >= 1.10.0' }]);
    const fits = (version: string) => meetsDemand(demand, { name: 'opentofu', version });
    expect(['1.9.8', '1.10.0', '1.10.1', '1.11.4', '1.12.0'].filter(fits)).toEqual(['1.10.0', '1.11.4']);
    expect(meetsDemand(demand, { name: 'terraform', version: '1.11.4' })).toBe(false);
  });

  it('are of Terraform if the template names it, although one of its files is only for OpenTofu', () => {
    const files = readFilesTools({ 'main.tf': '', 'extra.tofu': '' });
    expect(intersectDemand({ files, wanted: [], writer: null })).toEqual({ opentofu: [] });
    const template = { by: 'template', tool: { name: 'terraform' } } as const;
    expect(intersectDemand({ files, wanted: [template], writer: null })).toEqual({ terraform: [] });
  });

  it('are one range unless OpenTofu 1.12 and later ignore a bound of the files, and then two', () => {
    const rangesFor = (required: string) => {
      const files = readFilesTools({ 'main.tf': `terraform {\n  required_version = "${required}"\n}` });
      const demand = intersectDemand({ files, wanted: [{ by: 'template', tool: { name: 'opentofu' } }], writer: null });
      if ('conflict' in demand) throw new Error(demand.conflict);
      return toWantedTools(demand).map(({ version }) => version);
    };
    expect(rangesFor('< 2.0')).toEqual(['< 2.0']);
    expect(rangesFor('< 1.12')).toEqual(['< 1.12, < 1.12.0', '>= 1.12.0']);
  });

  it('do not exist, with an error that names both, if two sources require different tools', () => {
    const environment = { by: 'environment', tool: { name: 'terraform' } } as const;
    expect(intersectDemand({ files: anyFiles, wanted: [wanted, environment], writer: null })).toEqual({
      conflict: 'the template version needs opentofu, the environment needs terraform',
    });
    const files = readFilesTools({ 'main.tofu': '' });
    expect(intersectDemand({ files, wanted: [], writer: { name: 'terraform', version: '1.11.4' } })).toEqual({
      conflict: "the template's files need opentofu, the state of the instance needs terraform",
    });
  });

  it('do not exist, with an error that names the ranges, if the ranges exclude each other', () => {
    const writer = { name: 'opentofu', version: '2.0.1' };
    expect(intersectDemand({ files: anyFiles, wanted: [wanted], writer })).toEqual({
      conflict:
        'no version of opentofu is in all of "~> 1.9" (the template version), ">= 2.0.1" (the state of the instance)',
    });
  });

  it('exclude a tool whose required_version cannot be met', () => {
    const environment = { by: 'environment', tool: { name: 'terraform', version: '~> 1.14' } } as const;
    const files = readFilesTools({ 'main.tofu': '', 'main.tf': 'terraform { required_version = "< 1.12" }' });
    expect(intersectDemand({ files, wanted: [environment], writer: null })).toHaveProperty('conflict');
    expect(intersectDemand({ files, wanted: [], writer: null })).toMatchObject({ opentofu: [], terraform: [{}] });
  });
});

describe('required_version in files that Terraform reads too', () => {
  const files = readFilesTools({ 'main.tf': 'terraform {\n  required_version = "~> 1.10.0"\n}' });
  const demand = intersectDemand({ files, wanted: [], writer: null });
  if ('conflict' in demand) throw new Error(demand.conflict);
  const fits = (name: string) => (version: string) => meetsDemand(demand, { name, version });

  it('limits Terraform and OpenTofu before 1.12, as in the tools themselves', () => {
    const versions = ['1.9.8', '1.10.1', '1.11.4', '1.12.0', '1.12.6'];
    expect(versions.filter(fits('terraform'))).toEqual(['1.10.1']);
    expect(versions.filter(fits('opentofu'))).toEqual(['1.10.1', '1.12.0', '1.12.6']);
    expect(toWantedTools(demand)).toEqual([
      { name: 'opentofu', version: '~> 1.10.0, < 1.12.0' },
      { name: 'opentofu', version: '>= 1.12.0' },
      { name: 'terraform', version: '~> 1.10.0' },
    ]);
  });

  it('still says which tool the files were written for', () => {
    const meant = (name: string, version: string) => isMeantBy(demand, { name, version });
    expect([meant('opentofu', '1.12.6'), meant('opentofu', '1.10.1'), meant('terraform', '1.10.5')]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

it('a contradiction among many ranges names only those that contradict each other', () => {
  const required = Array.from({ length: 50 }, (_, index) => `!= 1.0.${index}`);
  const files = { needsOpenTofu: true, required: { opentofu: required, terraform: [] } };
  const environment = { by: 'environment', tool: { name: 'opentofu', version: '< 1.5' } } as const;
  expect(intersectDemand({ files, wanted: [wanted, environment], writer: null })).toEqual({
    conflict: 'no version of opentofu is in all of "~> 1.9" (the template version), "< 1.5" (the environment)',
  });
});

it('an option that only newer versions support is accepted if such a version fits the run', () => {
  const demand = { opentofu: [{ version: '< 1.9', by: 'environment' }], terraform: [] } as const;
  expect(canBeAtLeast(demand, { name: 'opentofu', version: '1.9.0' })).toBe(false);
  expect(canBeAtLeast(demand, { name: 'opentofu', version: '1.8.0' })).toBe(true);
  expect(canBeAtLeast({ terraform: [] }, { name: 'opentofu', version: '1.8.0' })).toBe(false);
});

describe('the best tool for a run', () => {
  it('is the highest version of OpenTofu, in whatever order workers report versions', () => {
    const tools = [
      { name: 'terraform', version: '1.14.0' },
      { name: 'opentofu', version: '1.9.8' },
      { name: 'opentofu', version: '1.10.10' },
    ];
    expect(bestOf(tools)).toBe(tools[2]);
    expect(bestOf(tools.toReversed())).toBe(tools[2]);
    expect(bestOf([])).toBeUndefined();
  });

  it('is the tool that wrote the state, in no older version', () => {
    const writer = { name: 'opentofu', version: '1.10.0' };
    expect(mayFollow(writer, { name: 'opentofu', version: '1.9.8' })).toBe(false);
    expect(mayFollow(writer, { name: 'opentofu', version: '1.10.0' })).toBe(true);
    expect(mayFollow(writer, { name: 'terraform', version: '1.14.0' })).toBe(false);
    expect(mayFollow({ ...writer, version: null }, { name: 'opentofu', version: '1.6.0' })).toBe(true);
  });
});
