import { actionsOf } from '#api/pipeline/actions.ts';
import type { ConnectionTarget } from '#domain/connections/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a connection. */
export const connectionActions = actionsOf<ConnectionTarget>()({
  update: { operation: 'connections.update', findRefusal: findArchivedRefusal },
  rotate: { operation: 'connections.rotate', findRefusal: findArchivedRefusal },
  test: { operation: 'connections.test' },
  delete: { operation: 'connections.delete' },
});
