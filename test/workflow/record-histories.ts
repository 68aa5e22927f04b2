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
    const id = 'idempotency_key' in run ? run.idempotency_key : await findLatest(engine, run.workflow_type);
    const history = await engine.client.workflow.getHandle(id).fetchHistory();
    await engine.close();
    const path = new URL(`./histories/${release}-${name}.json`, import.meta.url);
    writeFileSync(path, `${JSON.stringify(JSON.parse(historyToJSON(history)), null, 1)}\n`);
  });
}

async function findLatest({ client }: ReturnType<typeof openEngine>, type: string): Promise<string> {
  const found = client.workflow.list({ query: `WorkflowType = '${type}'` });
  for await (const { workflowId } of found) return workflowId;
  throw new Error(`there is no workflow of the type ${type}`);
}
