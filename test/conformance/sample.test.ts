import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system.ts';
import { requireTools } from '../executors/support.ts';
import { findModules, runsWith } from './configurations.ts';
import { compareOne } from './outcomes.ts';
import { ConformingService } from './service.ts';

/** A few of the configurations that `npm run test:conformance` compares. */
const sample = [
  'numbers-large',
  'variable-optional-nested',
  'resource-for-each-keys',
  'file-functions',
  'error-unclosed-template',
];
const tools = await requireTools();

describe('a configuration that the service runs', () => {
  let system: System;
  let service: ConformingService;
  beforeAll(async () => {
    system = await startSystem();
    service = new ConformingService(system.administrator);
  });
  afterAll(() => system.close());

  const modules = findModules().filter(({ name }) => sample.includes(name.replace('modules/', '')));
  const cases = tools.flatMap((tool) =>
    modules
      .filter((module) => runsWith(module, tool))
      .map((module) => ({ tool, module, title: `${module.name} with ${tool.name}` })),
  );
  it.each(cases)('gives what the bare tool gives: $title', async ({ tool, module }) => {
    const { outcome, details } = await compareOne(service, tool, module);
    expect(outcome === 'differs' ? details : []).toEqual([]);
  });

  it('is compared for every module of the sample', () => {
    expect(modules).toHaveLength(sample.length);
  });
});
