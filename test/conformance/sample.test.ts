import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system.ts';
import { requireTools } from '../executors/support.ts';
import { findModules } from './configurations.ts';
import { compareOne } from './outcomes.ts';
import { ConformingService } from './service.ts';

/** A few of the configurations that `npm run test:conformance` compares. */
const sample = {
  'numbers-large': 'same',
  'variable-optional-nested': 'same',
  'resource-for-each-keys': 'same',
  'file-functions': 'same',
  'error-unclosed-template': 'explained',
} as const;
const tools = await requireTools();

describe('a configuration that the service runs', () => {
  let system: System;
  let service: ConformingService;
  const mirror = mkdtempSync(join(tmpdir(), 'coordinator-conformance-mirror-'));
  beforeAll(async () => {
    system = await startSystem();
    service = new ConformingService(system.administrator);
  });
  afterAll(() => {
    rmSync(mirror, { recursive: true });
    return system.close();
  });

  const modules = findModules();
  const cases = tools.flatMap((tool) =>
    Object.entries(sample).map(([name, outcome]) => ({ tool, name, outcome, title: `${name} with ${tool.name}` })),
  );
  it.each(cases)('has the same result as in the bare tool: $title', async ({ tool, name, outcome }) => {
    const module = modules.find((each) => each.name === `modules/${name}`);
    if (module === undefined) throw new Error(`there is no module ${name}`);
    expect(await compareOne({ service, mirror }, tool, module)).toMatchObject({ outcome });
  });
});
