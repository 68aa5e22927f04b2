import { actionsOf } from '#api/pipeline/actions.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import type { PauseTarget } from '#domain/holds/apply-pause.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with the freeze windows of an environment. */
export const freezeWindowsActions = actionsOf<EnvironmentTarget>()({
  update: { operation: 'environments.set_freeze_windows', findRefusal: findArchivedRefusal },
});

/** What a caller may do with the pause of all applies. */
export const pauseActions = actionsOf<PauseTarget>()({
  set: { operation: 'apply_pause.set' },
  end: {
    operation: 'apply_pause.end',
    findRefusal: ({ pause }) => (pause ? null : { message: 'a pause of applies was not found' }),
  },
});
