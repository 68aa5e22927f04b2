import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import { addPerson } from '#test/support/access/people.ts';
import { requestOf } from '#test/support/api/command-requests.ts';
import type { SetupApi } from '#test/support/api/command-setups.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { ask } from '#test/support/api/operation-requests.ts';
import {
  expectHeardChanges,
  readStatusChanges,
  watchedColumns,
  watchStatusChanges,
  whileWatched,
} from '#test/support/status-changes.ts';

/**
 * Changes by workers, or by commands with another body than here, and the test that covers each. `startSystem` checks them in every test of
 * a whole service.
 */
const seenElsewhere: Readonly<Record<string, string>> = {
  'assembly_nodes.status': 'test/api/assemblies/runs/runs.test.ts',
  'selective_undo_candidate_checks.state': 'test/api/undo/undo-opentofu.test.ts',
  'workers.lost_at': 'test/domain/system-actions.test.ts',
};

let api: TestApi;
let stage: SetupApi;
beforeAll(async () => {
  api = await startApi();
  const { orm } = api.services;
  await watchStatusChanges(orm, 'while watched');
  const place = { url: await api.app.listen({ port: 0 }), orm };
  stage = { ...place, root: await addPerson(place, 'admin') };
});
afterAll(() => api?.close());

/** Commands that turn something on or off beside other changes. */
const switched = new Set(['webhooks.update', 'notification_channels.update', 'schedules.update']);

it('every status change by a command publishes an event', async () => {
  const { orm } = api.services;
  const commands = operations.filter((operation): operation is CommandOperation => operation.kind === 'command');
  for (const operation of commands.filter(({ id }) => id !== 'bootstrap.admin')) {
    const request = await requestOf(stage, operation);
    const { status, text } = await whileWatched(orm, () => ask(stage, operation, request));
    expect(status, `${operation.id} ${text}`).toBeLessThan(300);
    if (!switched.has(operation.id)) continue;
    const body = JSON.stringify({ enabled: operation.id !== 'schedules.update' });
    const turned = await whileWatched(orm, () => ask(stage, operation, { ...request, body }));
    expect(turned.status, turned.text).toBe(200);
  }
  await expectHeardChanges(orm);
  const seen = new Set((await readStatusChanges(orm)).map(({ column }) => column));
  const unseen = (await watchedColumns(orm)).filter((column) => !seen.has(column));
  expect(unseen, 'columns of a status that no command of this test changes').toEqual(Object.keys(seenElsewhere));
}, 300_000);
