import { actionsOf } from '#api/pipeline/actions.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import { activeHold } from '#domain/holds/model.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';

/** What a caller may do with an environment. */
export const environmentActions = actionsOf<EnvironmentTarget & Used>()({
  deploy: { operation: 'runs.create', findRefusal: findArchivedRefusal },
  update: { operation: 'environments.update', findRefusal: findArchivedRefusal },
  lock: { operation: 'environments.lock', findRefusal: findArchivedRefusal },
  unlock: {
    operation: 'environments.unlock',
    findRefusal: ({ lock }) => (activeHold(lock, new Date()) ? null : { message: 'the environment is not locked' }),
  },
  archive: { operation: 'environments.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: {
    operation: 'environments.unarchive',
    findRefusal: (environment) => findUnarchivingRefusal('environment', environment),
  },
  delete: { operation: 'environments.delete', findRefusal: ({ deletion }) => deletion },
});
