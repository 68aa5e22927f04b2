import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, it } from 'vitest';
import { release } from '#domain/shared/installation/release.ts';
import { openEngine } from '#engine/connection.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { scenarios } from './scenarios.ts';

/** `npm run record-histories`: records the histories of this release's workflows, for later releases to replay. */
let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.close();
});

for (const [name, scenario] of Object.entries(scenarios)) {
  it(`records ${name}`, async () => {
    const run = await scenario(system.administrator, { waitMs: (milliseconds) => sleep(milliseconds) });
    await sleep(500);
    const engine = openEngine(system.config.temporal);
    const history = await engine.client.workflow.getHandle(run.idempotency_key).fetchHistory();
    await engine.close();
    const path = new URL(`./histories/${release}-${name}.json`, import.meta.url);
    writeFileSync(path, `${JSON.stringify(JSON.parse(historyToJSON(history)), null, 1)}\n`);
  });
}
