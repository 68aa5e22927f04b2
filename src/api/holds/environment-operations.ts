import { z } from 'zod';
import { EnvironmentParams, readAccess, updateAccess } from '#api/environments/operations.ts';
import { EnvironmentView, showEnvironment } from '#api/environments/views.ts';
import type { ActionContext } from '#api/pipeline/actions.ts';
import type { TargetLookup } from '#api/pipeline/call.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import { FreezeWindow, FreezeWindows } from '#domain/environments/freeze-windows.ts';
import { type EnvironmentTarget, findEnvironment, findEnvironmentToChange } from '#domain/environments/store.ts';
import { lockEnvironment, setFreezeWindows, unlockEnvironment } from '#domain/holds/environment-holds.ts';
import { NewHold } from '#domain/holds/model.ts';
import { ExpectedRevision, refuseStale } from '#domain/shared/revisions.ts';
import { freezeWindowsActions } from './actions.ts';

/** The declarations that all changes of an environment's holds share. */
const ofEnvironment = {
  params: EnvironmentParams,
  access: { ...updateAccess, review: { inherits: 'environments.update' } },
  target: ({ em, params, lock }: TargetLookup<{ id: string }, unknown, unknown>) =>
    findEnvironmentToChange(em, params.id, lock),
  targetName: 'environment',
  idempotency: 'none',
} as const;
const LockEnvironment = NewHold.extend(ExpectedRevision).meta({ id: 'LockEnvironment' });
const SetFreezeWindows = z
  .strictObject({ freeze_windows: FreezeWindows, ...ExpectedRevision })
  .meta({ id: 'SetFreezeWindows' });
const FreezeWindowsView = z
  .object({ freeze_windows: z.array(FreezeWindow), revision: z.int(), actions: freezeWindowsActions.view })
  .meta({ id: 'FreezeWindows' });

function showFreezeWindows(context: ActionContext, environment: EnvironmentTarget) {
  const { freezeWindows, revision } = environment;
  return { freeze_windows: freezeWindows, revision, actions: freezeWindowsActions.describe(context, environment) };
}

export const lock = command({
  ...ofEnvironment,
  id: 'environments.lock',
  route: 'PUT /api/v1/environments/:id/lock',
  summary: 'Lock an environment: its runs plan and wait for review, but no apply starts',
  description:
    'What already applies is not interrupted. Your own lock is replaced. The lock of another person is replaced only if you send the ' +
    'present revision of the environment, and answers 409 otherwise.',
  body: LockEnvironment,
  responses: { 200: EnvironmentView },
  audit: 'environment.locked',
  handle: async ({ tx, target, body, operations, principal }) => {
    const { expected_revision: expectedRevision, ...hold } = body;
    const locked = await lockEnvironment(tx, target, principal, { ...hold, expectedRevision });
    const { id, revision } = locked;
    return {
      id,
      revision,
      before: { lock: target.lock },
      after: { lock: locked.lock },
      answer: await showEnvironment(tx.em, { operations, principal }, locked),
    };
  },
});

export const unlock = command({
  ...ofEnvironment,
  id: 'environments.unlock',
  route: 'DELETE /api/v1/environments/:id/lock',
  summary: 'Unlock an environment: the applies that wait start',
  responses: { 204: Nothing },
  ifMatch: true,
  audit: 'environment.unlocked',
  handle: async ({ tx, target, expectedRevision }) => {
    refuseStale(target, expectedRevision);
    await unlockEnvironment(tx, target);
    return { id: target.id, before: { lock: target.lock }, after: { lock: null } };
  },
});

export const getFreezeWindows = read({
  id: 'environments.get_freeze_windows',
  route: 'GET /api/v1/environments/:id/freeze-windows',
  summary: 'Read the times at which no apply starts in an environment',
  params: EnvironmentParams,
  responses: { 200: FreezeWindowsView },
  access: { ...readAccess, review: { inherits: 'environments.get' } },
  target: ({ em, params }) => findEnvironment(em, params.id),
  targetName: 'environment',
  handle: async ({ target, operations, principal }) => showFreezeWindows({ operations, principal }, target),
});

export const changeFreezeWindows = command({
  ...ofEnvironment,
  id: 'environments.set_freeze_windows',
  route: 'PUT /api/v1/environments/:id/freeze-windows',
  summary: 'Replace the times at which no apply starts in an environment',
  description:
    'A window is either once, from `starts_at` to `ends_at`, or every week in its `time_zone`. Runs plan and wait ' +
    'for review meanwhile, and what already applies is not interrupted.',
  body: SetFreezeWindows,
  responses: { 200: FreezeWindowsView },
  audit: 'environment.freeze_windows_changed',
  handle: async ({ tx, target, body, operations, principal }) => {
    const changed = await setFreezeWindows(tx, target, body.freeze_windows, body.expected_revision);
    const { id, revision } = changed;
    const [before, after] = [target, changed].map(({ freezeWindows: windows }) => ({ freezeWindows: windows }));
    return { id, revision, before, after, answer: showFreezeWindows({ operations, principal }, changed) };
  },
});
